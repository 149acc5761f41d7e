// DL2's simulated cluster: one network for all sizes, against its published and repaired opponents.

#include <fmt/format.h>

#include <algorithm>

#include "experiment/claims/claims.h"

namespace allot {
namespace {

ClaimFamily Dl2Family(bool quick) {
  struct Size {
    const char* name;
    double optimus;  // most of Optimus as published
    double drf;      // most of DRF as published, 0: not claimed
    double index;    // most of the best fixed index and of the best repaired heuristic
    int times = 1;
  };
  constexpr double kDl2sDrfClaim = 0.559;  // 44.1 % less
  // What search that knows the future leaves there (docs/learning-results.md).
  constexpr double kLeftOfV24h = 0.571;
  constexpr double kLeftOfE24 = 0.997;
  const std::vector<Size> sizes = {{"S", 0.81, 0, 0.995, 10},  // 10 jobs a workload
                                   {"M96", 0.78, kDl2sDrfClaim, 1.002},
                                   {"L500", 0.78, kDl2sDrfClaim, 1.002},
                                   {"M32", 0.78, 0, 1.002},
                                   {"M16", 0.62, 0, 1.002},
                                   {"V24", 0.62, 0, 1.002},
                                   {"V24h", 0.78, kLeftOfV24h, 1.002},
                                   {"V24x2", 0.36, kDl2sDrfClaim, 0.995},
                                   {"V48", 0.78, kDl2sDrfClaim, 1.002},
                                   {"V48x2", 0.62, 0, 1.002},
                                   {"V240", 0.78, kDl2sDrfClaim, 1.002},
                                   {"E24", 0.36, 0, kLeftOfE24}};
  const std::vector<std::string> quick_sizes = {"S", "V24", "V24x2", "E24"};
  ClaimFamily family;
  family.id = "dl2";
  family.profile = "dl2";
  for (const char* size : {"V24", "V24x2", "S", "M32", "V48", "E24"}) {
    family.training.push_back(fmt::format("dl2:size={}", size));
  }
  family.bases = {"remaining"};
  family.start = "index:alpha=0.12,beta=0.75,kappa=0,rank=0.25";
  family.method =
      "policy-gradient:baseline=state,average-decay=0.99,noise-interval=1,sample-share=1,tau=0.15,"
      "half-life=1e18,scale-per-workload=false,learning-rate=0.004,final-learning-rate=0.0003";
  family.workloads = 4;
  family.validation = 120;
  family.iterations = quick ? 1000 : 2400;
  family.most_decisions = 20'000;
  family.repaired = {"optimus-repaired", "drf-repaired", "srtf-repaired", "fifo-repaired",
                     "tetris-repaired"};
  for (const Size& size : sizes) {
    if (quick &&
        std::find(quick_sizes.begin(), quick_sizes.end(), size.name) == quick_sizes.end()) {
      continue;
    }
    const std::string spec = fmt::format("dl2:size={}", size.name);
    family.settings.push_back({fmt::format("DL2 {}", size.name),
                               spec,
                               spec,
                               {{"optimus", size.optimus},
                                {"drf", size.drf},
                                {"REPAIRED", size.index},
                                {"INDEX", size.index},
                                {"RANKED", 0}},
                               size.times});
  }
  return family;
}

ALLOT_REGISTER(ClaimsInfo, (ClaimsInfo{"dl2", [](const ClaimOptions& options) {
                                         return std::vector{Dl2Family(options.quick)};
                                       }}));

}  // namespace
}  // namespace allot
