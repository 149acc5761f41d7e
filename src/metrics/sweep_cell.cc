#include "metrics/sweep_cell.h"

#include <algorithm>

#include "core/check.h"
#include "metrics/curves.h"
#include "metrics/service.h"

namespace allot {
namespace {

constexpr int kQuantiles = 51;  // every second percent
constexpr int kDigits = 6;

std::vector<double> Distribution(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !(value < kNever); });
  std::vector<double> quantiles = EvenQuantiles(std::move(values), kQuantiles);
  for (double& quantile : quantiles) quantile = RoundedTo(quantile, kDigits);
  return quantiles;
}

// Share of the GPUs' time that was held from the first to the last submission of counted jobs.
double ArrivalsUse(const RunFacts& facts, std::span<const JobRecord> counted, Seconds end) {
  const Seconds begin = counted.front().submit;
  end = std::min(end, counted.back().submit);
  if (!(end > begin) || facts.gpus <= 0) return kUnknown;
  double held = 0;
  for (std::size_t i = 0; i < facts.timeline.size(); ++i) {
    const Seconds from = std::max(facts.timeline[i].time, begin);
    const Seconds to =
        std::min(i + 1 < facts.timeline.size() ? facts.timeline[i + 1].time : end, end);
    if (to > from) held += facts.timeline[i].gpus_used * (to - from);
  }
  return held / (static_cast<double>(facts.gpus) * (end - begin));
}

}  // namespace

void AddDistributions(const RunFacts& facts, SweepCell* cell) {
  ALLOT_CHECK(facts.workload != nullptr && !facts.records.empty());
  std::span<const JobRecord> counted = facts.records;
  if (facts.tracked) {
    const auto first = static_cast<std::size_t>(facts.tracked->first);
    const auto last = static_cast<std::size_t>(facts.tracked->last);
    counted = facts.records.subspan(first, last - first + 1);
    for (std::size_t i = 0; i < first; ++i) cell->hidden += facts.records[i].finish == kNever;
  }
  cell->arrivals_use = ArrivalsUse(facts, counted, cell->end_s);
  if (cell->cut_off) {
    RunSummary& s = cell->summary;
    for (double* jct : {&s.avg_jct_s, &s.p50_jct_s, &s.p95_jct_s, &s.p99_jct_s, &s.makespan_s}) {
      *jct = kUnknown;
    }
    if (s.service) s.service->avg_fairness = s.service->p95_fairness = kUnknown;
    return;
  }
  std::vector<double> jct;
  jct.reserve(counted.size());
  for (const JobRecord& record : counted) {
    const Job& job = facts.workload->jobs[static_cast<std::size_t>(record.job)];
    if (record.finish != kNever && job.ended()) jct.push_back(record.finish - record.submit);
  }
  cell->jct_quantiles_s = Distribution(std::move(jct));
  cell->fairness_quantiles = Distribution(FinishTimeFairness(
      *facts.workload, facts.gpus, facts.records, counted, facts.even_durations, facts.alone));
}

}  // namespace allot
