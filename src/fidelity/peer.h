#pragma once
// The seam for reproductions: one NAME_peer.cc per peer in this folder turns a folder of the peer's
// own workloads and per-job results into cases, each a run of allot under the peer's profile
// compared job by job. `allot reproduce` runs them.

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
  // Mean JCT in seconds of the repaired policy of that name in the same world.
  std::function<double()> repaired_avg_jct_s;
};

// Something the peer does that allot does on request only, or not at all.
struct PeerDefect {
  std::string what;
  std::string treatment;  // "option ...", or "not rebuilt"
  std::string effect;     // as measured; the table of runs shows it where runs are named
};

struct PeerInfo {
  std::string id;  // "blox"
  std::string summary;
  std::string tolerance;  // in words, for the report
  std::vector<PeerDefect> defects;
  // All cases of a reference folder. DataError when it is not one.
  std::function<std::vector<FidelityCase>(const std::string& folder)> cases;
};

}  // namespace allot
