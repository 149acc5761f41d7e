#pragma once
// The claims of claims.h, worked out: the opponents are tuned, the policy is trained, and both are
// compared where neither was tuned nor trained. What 'allot reproduce claims' runs.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiment/claims/claims.h"
#include "experiment/global_options.h"
#include "metrics/paired.h"
#include "metrics/table.h"

namespace allot {

struct ClaimsOptions {
  ClaimOptions claims;
  std::string command;  // that cards of checkpoints say
  std::string out;      // folder of the training runs; stopped ones go on there
  std::string only;     // families whose name holds this; "": all
  int seeds = 5;        // of training
  int workloads = 40;   // of each test setting
};

// The ratio of one measure, learned / opponent, in one setting.
struct Finding {
  std::string setting;
  std::string opponent;
  std::string measure;
  PairedRatio ratio;
  double most = 0;  // that was claimed; 0: nothing
  bool holds() const { return most == 0 || ratio.mean <= most; }
};

struct FamilyFindings {
  ClaimFamily family;
  std::vector<Finding> findings;
  std::map<std::string, std::string> index;  // INDEX by setting
  std::string ranked;                        // RANKED
  int accepted = 0;  // networks that count, of `seeds`; the others are what they began at
};

// UsageError and DataError as of settings and traces; kInterrupted after a checkpoint.
std::vector<FamilyFindings> RunClaims(const ClaimsOptions& options, const GlobalOptions& globals);

int MissedOf(const std::vector<FamilyFindings>& families);
TextTable ClaimsTable(const std::vector<FamilyFindings>& families, const ClaimsOptions& options);
nlohmann::ordered_json ClaimsJson(const std::vector<FamilyFindings>& families);

}  // namespace allot
