#pragma once
// The seam for reproductions: one file per peer in this folder turns a folder of the peer's own
// workloads and per-job results into cases, each a run of allot under the peer's profile compared
// job by job. `allot reproduce` runs them.

#include <functional>
#include <string>
#include <vector>

#include "core/registry.h"
#include "core/types.h"

namespace allot {

struct FidelityResult {
  enum class Verdict {
    kEqual,       // every compared figure of every job within the peer's tolerance
    kDifferent,   // at least one is not
    kNotRebuilt,  // the peer's run shows a defect that allot does not rebuild; compared for its
                  // size
  };
  std::string name;  // "w1.Las.scattered.accept-all"
  Verdict verdict = Verdict::kEqual;
  std::int64_t jobs = 0;
  double peer_avg_jct_s = kUnknown;
  double our_avg_jct_s = kUnknown;
  double largest_difference_s = 0;  // of a job's JCT
  double mean_difference_s = 0;     // of absolute differences
  std::string first_difference;     // job, figure, both values, time
  std::string note;                 // the defect, for kNotRebuilt
  double peer_cpu_s = kUnknown;     // where the reference says it
  double our_cpu_s = kUnknown;
};

struct FidelityCase {
  std::string name;
  std::function<FidelityResult()> run;  // thread-safe against other cases
};

struct PeerInfo {
  std::string id;  // "blox"
  std::string summary;
  std::string tolerance;  // in words, for the report
  // All cases of a reference folder. DataError when it is not one.
  std::function<std::vector<FidelityCase>(const std::string& folder)> cases;
};

}  // namespace allot
