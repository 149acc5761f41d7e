#pragma once
// An evaluation reduced to one row per policy, with its sentences and table: what compare and
// evaluate print, and the beginning of the report.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/evaluation.h"
#include "metrics/paired.h"
#include "metrics/table.h"

namespace allot {

// Means over the workloads of the figures of the runs; counts are sums.
struct PolicyRow {
  std::size_t policy = 0;  // position in Evaluation::policies
  std::string name;        // label, with " (oracle)" when it is one
  bool oracle = false;
  bool reference = false;
  std::int64_t jobs = 0;
  std::int64_t unfinished = 0;
  std::vector<std::size_t> stuck;  // workloads on which it did not finish: then no JCT is known
  double avg_jct_s = kUnknown;
  double p50_jct_s = kUnknown;
  double p95_jct_s = kUnknown;
  double p99_jct_s = kUnknown;
  double avg_queueing_s = kUnknown;
  double gpu_utilisation = kUnknown;
  double node_hours = kUnknown;
  double evictions_per_job = kUnknown;   // where nodes are called back
  std::optional<StartFigures> starts{};  // sums, where nodes fail jobs that start there
  double lost_share = kUnknown;          // of the GPU time held, that lost (RunSummary::lost)
  double cost = kUnknown;                // unknown where nodes have no price
  double restarts_per_job = kUnknown;
  double decision_us_p50 = kUnknown;
  double decision_us_p99 = kUnknown;
  std::vector<double> ratios;  // per workload: average JCT of the reference / of this policy
  // Of `ratios` of workloads that both finished; below 1: the reference is faster.
  PairedRatio ratio;
};

// Best average JCT first.
std::vector<PolicyRow> CompareToReference(const Evaluation& evaluation);
// Whether `a` comes before `b` there.
bool Faster(const PolicyRow& a, const PolicyRow& b);

// Whether a policy's name has room in the title of a column.
bool FitsTitle(std::string_view name);

// "8 unseen workloads".
std::string WorkloadsInWords(const Evaluation& evaluation);

// "every 5m 00s", "at arrivals and completions".
std::string DecisionsInWords(const Evaluation& evaluation);

// For each policy that did not finish on some workload: on how many, why, and that ratios leave
// these out.
std::vector<std::string> StuckInWords(const Evaluation& evaluation,
                                      const std::vector<PolicyRow>& rows);

struct Headline {
  // "learned has a 1.9 % shorter average JCT than drf, the strongest of 7 others (95 % interval:
  // ...), on 8 unseen workloads." Where nothing was trained, the fastest policy against the
  // reference.
  std::string finding;
  std::string verdict;  // whom the intervals tell the reference apart from; oracles do not count
  std::string missing;  // of a trained policy: that no strong rule is among the others; else ""
};
Headline MakeHeadline(const Evaluation& evaluation, const std::vector<PolicyRow>& rows);

TextTable ComparisonTable(const Evaluation& evaluation, const std::vector<PolicyRow>& rows);

}  // namespace allot
