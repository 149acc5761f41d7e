#pragma once
// Measures how good wait forecasts are: makes forecasts at regular moments of a run, and compares
// them with what happens later in that run. Jobs that get GPUs at the decision of the moment itself
// are left out, because their start is known.
//
// Quotes are measured likewise: at a moment with arrivals, each of the jobs that have just arrived
// is taken out again, and its start is predicted as that of a job that nobody has submitted.

#include <string>
#include <vector>

#include "sim/run.h"
#include "wait_forecast/forecast_calibration.h"
#include "wait_forecast/wait_forecaster.h"

namespace allot {

struct CheckOptions {
  Seconds from = 0;  // the first moment
  Seconds until = kNever;
  Seconds every = 6 * 3600.0;
  bool quotes = false;  // of jobs that arrive, instead of forecasts of all jobs
};

// Listens to the decisions of a simulated run; read the results when it is over.
class ForecastCheck : public DecisionListener {
 public:
  // `policy` is a second object of the policy that runs. All must outlive the check.
  ForecastCheck(const WaitForecaster& forecaster, const Scenario& scenario, LengthModel lengths,
                Policy& policy, const CheckOptions& options);

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  // The predictions whose times were observed. Call it once.
  std::vector<PredictedTime> Times(const std::vector<JobRecord>& records);

  std::int64_t moments() const { return moments_; }
  double cpu_seconds() const { return cpu_seconds_; }  // all forecasts

 private:
  void Predict(const Observation& observation, const Allocation& allocation);
  void QuoteArrivals(const Observation& observation, const Allocation& allocation);
  void Expect(Predicted what, JobIndex job, const TimeQuantiles& times, Seconds now);

  const WaitForecaster& forecaster_;
  const Scenario& scenario_;
  LengthModel lengths_;
  Policy& policy_;
  CheckOptions options_;
  Seconds next_;
  std::int64_t moments_ = 0;
  double cpu_seconds_ = 0;
  std::vector<PredictedTime> times_;
  std::vector<Seconds> made_;                       // when each of times_ was predicted
  std::vector<std::vector<std::size_t>> expected_;  // by job: indices of starts not observed yet
};

// The score of a class of times.
struct ForecastScore {
  std::string what;
  std::string lead;  // "all", or LeadName
  std::int64_t times = 0;
  std::int64_t moments = 0;   // with such times
  double covered = kUnknown;  // fraction between the 10 and 90 % quantiles, both included
  double below = kUnknown;    // fraction before the 10 % quantile
  double above = kUnknown;    // fraction after the 90 % quantile
  double pinball = kUnknown;  // mean loss over the levels (Koenker, Bassett, Econometrica 1978), s
  double width = kUnknown;    // median width of the 80 % interval, s; infinite if it is open
};

// Scores of each kind of event, together and by lead. kNever counts as `horizon` for the pinball
// loss.
std::vector<ForecastScore> ScoresOf(const std::vector<PredictedTime>& times, Seconds horizon);

}  // namespace allot
