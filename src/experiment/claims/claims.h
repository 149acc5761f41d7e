#pragma once
// What 'allot reproduce claims' claims, as data: families of settings, the policy that is claimed
// to be good there, and the most that its mean JCT may be of each opponent's. The policy is a
// network trained anew, or one that is there: a released checkpoint, a rule. New claims are one
// file in experiment/claims/.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/registry.h"

namespace allot {

// INDEX: the fixed index of best mean JCT in the setting itself. RANKED: with the weight of the
// rank too, where training starts. TUNED: the one that is known as the best of the setting's world
// (envs/setting.h). REPAIRED: the best of the family's `repaired` policies.
struct ClaimLimit {
  std::string opponent;  // a policy as the setting's profile names it, or one of the words above
  double most = 0;       // of learned / opponent; 0: reported only
  double most_p99 = 0;   // likewise of p99; 0: not reported
};

struct ClaimedSetting {
  std::string name;
  std::string test;  // setting; seeds 0, 1, ... are played
  std::string tune;  // setting in which INDEX, the best fixed index, is searched; "": no INDEX
  std::vector<ClaimLimit> limits;
  int times = 1;        // as many test workloads: of few jobs each, means are of many
  bool beyond = false;  // training saw nothing like it: the family's guards are reported only
};

struct ClaimFamily {
  std::string id;
  std::string profile;
  // The policy that is claimed, as the profile names it; "": a network, trained as below.
  std::string policy;
  std::vector<ClaimLimit> pooled;     // over the workloads of all settings
  std::vector<std::string> training;  // settings
  std::vector<std::string> bases;     // of INDEX
  std::string history;                // TRACE@DATE of the length model, or ""
  // RANKED, where training starts; "": tuned in `ranked_in`; or the folder of a checkpoint.
  std::string start;
  std::string method;  // of training
  int iterations = 0;
  int workloads = 8;    // of each iteration
  int validation = 24;  // workloads by which the best weights are chosen
  // What RANKED is searched by, if it is; INDEX and the network always by the mean JCT.
  std::string objective = "jct";
  std::string ranked_in;
  // Where training plays less than is claimed, of time or cluster: the setting, of training weeks,
  // in which the network must have the lower mean JCT, to count in place of the index it began at.
  std::string gate;
  std::vector<std::string> repaired;  // opponents of which REPAIRED is the best in each setting
  std::vector<ClaimedSetting> settings;
  // Longer than an episode that ends takes. A policy may leave a job without progress for good
  // (DL2's Optimus does, once an estimate has proved short): it then counts as waiting to here.
  std::int64_t most_decisions = 50'000;
  // Also report p99, bounded slowdown, the 95 % shortest and rho against INDEX or TUNED.
  bool guards = false;
  double most_unfair = 0;  // of 1 + share of jobs with rho > 1, learned / it; 0: reported only
};

struct ClaimOptions {
  bool quick = false;
  std::string philly = "embedded";         // trace with weeks on both sides of the split
  std::string philly_from = "2017-10-30";  // first of its training weeks
  std::string helios;                      // Helios' Venus, from its first job on; "": left out
  std::string pai;                         // Alibaba PAI 2020, likewise
  std::string openb;                       // Alibaba openb 2023, likewise
  std::string universal = "checkpoints/universal/accepted";  // the policy for all worlds
};

struct ClaimsInfo {
  std::string id;
  std::function<std::vector<ClaimFamily>(const ClaimOptions&)> make;
};

// Of all that are registered.
std::vector<ClaimFamily> Claims(const ClaimOptions& options);

}  // namespace allot
