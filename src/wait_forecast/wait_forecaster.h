#pragma once
// Predicts when the jobs of a moment will start and end, as quantiles. Several futures are
// simulated under the present policy, which starts afresh, and the operator's rules. Each draws the
// lengths of the jobs from the length model, given how long they have run, and further arrivals
// from a history. It reads nothing that a policy or the rules could not know. Used by 'allot
// forecast' and by the daemon.
//
// The same observation, model, history, seed and policy give the same quantiles, bit by bit.
//
// With many jobs each future is expensive. WaitForecastOptions::most_rows limits the cost of all
// together: they are then simulated equally far, and the forecast states how far.

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "length_model/length_model.h"
#include "sched/policy.h"
#include "sim/simulated_rules.h"
#include "wait_forecast/length_levels.h"
#include "wait_forecast/past_arrivals.h"

namespace allot {

inline constexpr std::array<double, 3> kForecastLevels = {0.1, 0.5, 0.9};
// Absolute times by level, ascending; kNever if later than the simulated time.
using TimeQuantiles = std::array<Seconds, 3>;

struct JobForecast {
  JobIndex job = 0;
  bool waits = false;   // otherwise it runs, and `start` is unknown (NaN)
  TimeQuantiles start;  // when it gets GPUs the next time
  TimeQuantiles end;
  // False for a job that gets nothing of an idle cluster: it waits for something that is not
  // simulated, such as a node that is down or the end of a maintenance window.
  bool known() const { return !std::isnan(end[0]); }
};

struct WaitForecast {
  std::vector<JobForecast> jobs;  // in the order of the observation's rows
  Seconds until = kNever;         // absolute: all futures were simulated up to here
  std::int64_t rows_shown = 0;    // to the policy, over all decisions
};

// A job that nobody has submitted yet.
struct HypotheticalJob {
  std::shared_ptr<const ConfigurationTable> table;  // on the moment's cluster
  std::int32_t requested = 0;
  double estimated_work = kUnknown;
  std::string user{};    // empty: not known
  std::string tenant{};  // likewise; as Moment::tenants names them
  JobRules rules{};      // where the moment's `past` has rules by job
};

// When such a job would start, were it submitted at the moment.
struct StartForecast {
  TimeQuantiles start;  // kUnknown: it gets nothing of an idle cluster
  // Rows of the moment that wait and, in at least half of the futures, start no later.
  std::vector<std::int32_t> ahead{};
  bool known() const { return !std::isnan(start[0]); }
};

struct StartForecasts {
  std::vector<StartForecast> jobs;  // in the order of the question
  Seconds until = kNever;           // as in WaitForecast
  std::int64_t rows_shown = 0;
};

struct WaitForecastOptions {
  int samples = 0;  // futures; 0 stands for SamplesFor
  std::uint64_t seed = 0;
  Seconds horizon = 14 * 86400.0;  // largest simulated time
  LengthCorrelations correlations{};
  // Largest simulated time once all jobs have started: they then keep their present rates.
  Seconds settle = 86400.0;
  double step = 0;  // SimulatedCluster::Throttle; 0: decisions as in a run
  // One future, in which each job takes as long as Observation::estimated_work says.
  bool as_estimated = false;
  // Limit on the rows shown to the policy, over all decisions of all futures. 0: none.
  std::int64_t most_rows = 0;
};

// The number of futures for so many jobs, which keeps the cost about constant.
int SamplesFor(std::int32_t jobs);

class WaitForecaster {
 public:
  // `rules` describe the cluster; interval and restart costs are taken from the observation. Of the
  // operator's, maintenance windows are left out.
  // Without a `past` (null) no further jobs arrive. UsageError for options out of range.
  WaitForecaster(SimOptions rules, const WaitForecastOptions& options,
                 std::shared_ptr<const PastArrivals> past);

  struct Moment {
    const Observation& observation;
    Seconds origin = 0;                                 // calendar time of 0, seconds since 1970
    const std::vector<std::string>* tenants = nullptr;  // names by Observation::tenant
    RulesPast past{};  // `jobs`: by row; submitters are numbered as the observation's names
  };
  // RunError if the policy breaks a rule. O(futures x cost of a simulation). `pause` is called
  // between decisions; it may wait or throw.
  WaitForecast Predict(const Moment& now, const LengthModel& lengths, Policy& policy,
                       const std::function<void()>& pause = {}) const;

  // The same futures for each of these jobs in turn, which meets no other of them, up to its start.
  // Futures differ in that job alone, so that the starts of several jobs can be compared.
  StartForecasts PredictStarts(const Moment& now, std::span<const HypotheticalJob> jobs,
                               const LengthModel& lengths, Policy& policy,
                               const std::function<void()>& pause = {}) const;

 private:
  struct Names;
  struct Beginning;
  class Simulations;
  int SamplesOf(const Observation& observation) const;
  bool limited() const;  // length estimates are time limits
  // A scenario with the arrivals of the first `part` seconds, and one more job at their end. `work`
  // is by job.
  Scenario MakeWorld(const Observation& start, const Names& names,
                     const std::vector<PastArrivals::Arrival>& arrivals,
                     std::span<const double> work, Seconds part) const;

  SimOptions rules_;
  WaitForecastOptions options_;
  std::shared_ptr<const PastArrivals> past_;
};

}  // namespace allot
