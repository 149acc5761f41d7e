#pragma once
// A sweep reduced to one row for every combination of its factors but the seed, with means over
// the seeds and ratios to a reference, paired by seed. What `allot sweep` prints and writes as
// DIR/table.csv, and what the report draws.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "metrics/paired.h"
#include "metrics/sweep_results.h"
#include "metrics/table.h"

namespace allot {

struct SweepRow {
  std::vector<std::string> values;  // one per factor; empty at the seed's place
  int seeds = 0;
  bool oracle = false;
  bool reference = false;
  std::int64_t jobs = 0;  // over all seeds, as are the unfinished
  std::int64_t unfinished = 0;
  PairedRatio avg_jct_s;  // mean over the seeds with its 95 % interval, as are the next ones
  PairedRatio p50_jct_s;
  PairedRatio p95_jct_s;
  PairedRatio p99_jct_s;
  PairedRatio avg_queueing_s;
  PairedRatio makespan_s;
  PairedRatio gpu_utilisation;
  PairedRatio avg_fairness;  // of rho (metrics/service.h)
  // Means over the seeds, level by level, of the quantiles of its cells (SweepCell).
  std::vector<double> jct_quantiles_s;
  std::vector<double> fairness_quantiles;
  double preemptions_per_job = kUnknown;
  // Where nodes go or services lend them: recalls that stopped a job, of the GPU time that jobs
  // held the share done again and all that was lost (RunSummary::lost), and what services lacked.
  double evictions_per_job = kUnknown;
  double redone_share = kUnknown;
  double lost_share = kUnknown;
  double shortage = kUnknown;
  PairedRatio
      ratio;  // average JCT of the reference / of this row; below 1: the reference is faster
};

// In the order of the cells. The reference of a row is the row of the same values but for those
// that SweepResults::reference names.
std::vector<SweepRow> Aggregate(const SweepResults& results);

// Factors with more than one value, the policy always, the seed never: what distinguishes rows.
std::vector<std::size_t> TellingFactors(const SweepResults& results);

// "policy fifo", "policy fifo, admission accept-all".
std::string ReferenceText(const SweepResults& results);

TextTable SweepTable(const SweepResults& results, const std::vector<SweepRow>& rows);
std::string SweepTableCsv(const SweepResults& results, const std::vector<SweepRow>& rows);
nlohmann::ordered_json SweepTableJson(const SweepResults& results,
                                      const std::vector<SweepRow>& rows);

}  // namespace allot
