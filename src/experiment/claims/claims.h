#pragma once
// The claims of 'allot reproduce claims', as data: families of settings, the policy that is claimed
// to be good there, and limits on its mean JCT relative to each opponent's. The policy is a newly
// trained network, a released checkpoint or a rule. New claims are one file in experiment/claims/.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/registry.h"

namespace allot {

// INDEX is the fixed index with the best mean JCT in the setting itself. RANKED also has the weight
// of the rank, and training starts there. TUNED is the best known index of the setting's world
// (envs/setting.h). REPAIRED is the best of the family's `repaired` policies.
struct ClaimLimit {
  std::string opponent;  // a policy of the setting's profile, or one of the words above
  double most = 0;       // limit on learned / opponent; 0: reported only
  double most_p99 = 0;   // likewise for p99; 0: not reported
};

struct ClaimedSetting {
  std::string name;
  std::string test;  // setting; seeds 0, 1, ... are simulated
  std::string tune;  // setting in which INDEX is searched; "" without INDEX
  std::vector<ClaimLimit> limits;
  int times = 1;        // factor on the number of test workloads, for workloads with few jobs
  bool beyond = false;  // unlike anything in training, so the family's guards are reported only
};

struct ClaimFamily {
  std::string id;
  std::string profile;
  // The claimed policy of the profile; "" for a network, trained as below.
  std::string policy;
  std::vector<ClaimLimit> pooled;     // over the workloads of all settings
  std::vector<std::string> training;  // settings
  std::vector<std::string> bases;     // for INDEX
  std::string history;                // TRACE@DATE of the length model, or ""
  // RANKED, at which training starts, or the folder of a checkpoint; "": tuned in `ranked_in`.
  std::string start;
  std::string method;  // training method
  int iterations = 0;
  int workloads = 8;    // per iteration
  int validation = 24;  // number of workloads that select the best weights
  // The objective of the search for RANKED; INDEX and the network always use the mean JCT.
  std::string objective = "jct";
  std::string ranked_in;
  // Set if training covers less time or a smaller cluster than the claim: a setting of training
  // weeks in which the network must have a lower mean JCT than the index it started from; otherwise
  // the index counts as the policy.
  std::string gate;
  std::vector<std::string> repaired;  // opponents of which REPAIRED is the best in each setting
  std::vector<ClaimedSetting> settings;
  // Longer than any episode that ends. A policy may leave a job without progress for ever (DL2's
  // Optimus does, after an estimate that was too short): the job then counts as waiting up to here.
  std::int64_t most_decisions = 50'000;
  // Also report p99, bounded slowdown, the 95 % shortest and rho against INDEX or TUNED.
  bool guards = false;
  double most_unfair =
      0;  // limit on the ratio of 1 + fraction of jobs with rho > 1; 0: reported only
};

struct ClaimOptions {
  bool quick = false;
  std::string philly = "embedded";         // trace with weeks on both sides of the split
  std::string philly_from = "2017-10-30";  // the first training week
  std::string helios;                      // Helios' Venus, from its first job on; "" leaves it out
  std::string pai;                         // Alibaba PAI 2020, likewise
  std::string openb;                       // Alibaba openb 2023, likewise
  std::string universal = "checkpoints/universal/accepted";  // the policy for all worlds
};

struct ClaimsInfo {
  std::string id;
  std::function<std::vector<ClaimFamily>(const ClaimOptions&)> make;
};

// All registered families.
std::vector<ClaimFamily> Claims(const ClaimOptions& options);

}  // namespace allot
