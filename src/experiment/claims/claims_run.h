#pragma once
// Checks the claims of claims.h, for 'allot reproduce claims': tunes the opponents, trains the
// policy, and compares them where neither was tuned nor trained.

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
  std::string command;  // for cards of checkpoints
  std::string out;      // folder of the training runs, from which stopped ones continue
  std::string only;     // selects families whose name contains this; "" selects all
  int seeds = 5;        // number of trainings
  int workloads = 40;   // per test setting
};

// The ratio of one measure, learned / opponent, in one setting.
struct Finding {
  std::string setting;
  std::string opponent;
  std::string measure;
  PairedRatio ratio;
  double most = 0;  // the claimed limit; 0: none
  bool holds() const { return most == 0 || ratio.mean <= most; }
};

struct FamilyFindings {
  ClaimFamily family;
  std::vector<Finding> findings;
  std::map<std::string, std::string> index;  // INDEX by setting
  std::string ranked;                        // RANKED
  int accepted =
      0;  // accepted networks of `seeds`; the others count as the index they started from
};

// Throws the errors of settings and traces; kInterrupted after writing a checkpoint.
std::vector<FamilyFindings> RunClaims(const ClaimsOptions& options, const GlobalOptions& globals);

int MissedOf(const std::vector<FamilyFindings>& families);
TextTable ClaimsTable(const std::vector<FamilyFindings>& families, const ClaimsOptions& options);
nlohmann::ordered_json ClaimsJson(const std::vector<FamilyFindings>& families);

}  // namespace allot
