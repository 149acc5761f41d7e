#include "agents/training/objective.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "agents/training/unfinished.h"
#include "core/index.h"
#include "sched/driver.h"
#include "sim/ruled_simulation.h"
#include "sim/run.h"

namespace allot {

Objective ObjectiveNamed(const std::string& id) {
  return Registry<ObjectiveInfo>::Global().Get("objective", id).value;
}

double PlayFor(const Objective& objective, const Scenario& scenario, Policy& policy,
               std::int64_t max_decisions) {
  RuledSimulation simulation(scenario);
  Drive(simulation.port(), policy, ContextOf(scenario), {},
        {.max_decisions = max_decisions, .time_decisions = false});
  const std::vector<JobRecord> records = simulation.cluster().records();
  const Observation& last = simulation.port().Observe();
  Played played{&scenario, records, last.now, {}};
  played.jct.reserve(records.size());
  for (const JobRecord& record : records) {
    const Seconds end =
        record.finish == kNever ? std::max(played.end, record.submit + 1) : record.finish;
    played.jct.push_back(end - record.submit);
  }
  const std::vector<Seconds> left = TimeLeftAlone(scenario, last);
  for (std::int32_t row = 0; row < last.rows(); ++row) {
    played.jct[At(last.job[At(row)])] += left[At(row)];
  }
  return objective(played);
}

double TrimmedMean(std::vector<double> values, double share) {
  const auto kept = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::floor(share * static_cast<double>(values.size()))));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                   values.end());
  return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kept), 0.0) /
         static_cast<double>(kept);
}

}  // namespace allot
