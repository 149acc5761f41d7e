#pragma once
// The rates of a whole configuration table by goodput (perf/goodput_model.h), for jobs whose
// gradients change often and whose fitted times change seldom: iteration times of all candidates of
// a batch are kept, and new statistics cost a few operations a candidate.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "perf/configuration.h"
#include "perf/goodput_model.h"

namespace allot {

// Which batches the configurations of a table may be trained with. Depends on the table's layout
// only: one for all jobs of a table.
struct GoodputCandidates {
  struct Candidate {
    double local_batch = 0;
    double passes = 0;  // without synchronisation
    double shrink = 1;  // M0 / total batch
  };
  std::vector<std::size_t> first;  // of configuration c: first[c] to first[c + 1]
  std::vector<Candidate> candidates;
};

// `limits`: by GPU type of the table, null: it does not train there. `fixed_batch`: total, 0:
// chosen.
std::shared_ptr<const GoodputCandidates> MakeGoodputCandidates(
    const ConfigurationTable& table, const std::function<const BatchLimits*(GpuTypeIndex)>& limits,
    double fixed_batch);

class GoodputRates {
 public:
  explicit GoodputRates(std::shared_ptr<const GoodputCandidates> candidates)
      : candidates_(std::move(candidates)) {}

  // `timing`: by GPU type, null: not known. O(candidates), three transcendental functions each.
  void SetTimings(const ConfigurationTable& table,
                  const std::function<const StepTiming*(GpuTypeIndex)>& timing);
  // By configuration, iterations at M0 per second; 0 where the times are not known. O(candidates).
  void RatesAt(const GradientStatistics& statistics, std::vector<double>* rates) const;

 private:
  std::shared_ptr<const GoodputCandidates> candidates_;
  std::vector<double> speed_;  // iterations per second, by candidate
};

}  // namespace allot
