#pragma once
// Wait forecasts beside a running daemon. A thread of its own forecasts from a copy of the last
// observation, so that decisions never wait for it. It uses at most 1 % of a core (CpuBudget), so
// with many jobs a forecast looks less far ahead.
//
// It adds its forecast to each job of the status. Metrics name kMostJobs jobs at most.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "live/status/status_part.h"
#include "sched/driver.h"
#include "wait_forecast/cpu_budget.h"
#include "wait_forecast/forecast_calibration.h"
#include "wait_forecast/live_moment.h"
#include "wait_forecast/live_quotes.h"
#include "wait_forecast/wait_forecaster.h"
#include "workload/history.h"

namespace allot {

class LiveForecast : public DecisionListener, public StatusPart {
 public:
  static constexpr std::size_t kMostJobs = 200;

  // What the daemon knows of a job, and policies are not shown.
  struct KnownJob {
    std::string name;
    RulesPast::KnownJob rules{};
  };
  struct Settings {
    Seconds every = 10;  // seconds between forecasts, at least
    SimOptions rules{};
    WaitForecastOptions forecast{};
    ForecastCalibration calibration{};
    std::shared_ptr<const History> history;  // source of arrivals and lengths; may be null
    const Catalogue* catalogue = &Catalogue::Embedded();
    Seconds origin = 0;  // calendar time of the run's 0, since 1970
    // These are called in the daemon's thread.
    std::function<KnownJob(JobIndex)> job_of;
    std::function<RulesInForce()> rules_in_force{};  // unset: none
    std::function<ClusterSpec()> nominal{};          // unset: what may be allocated
    // Get the moment of each forecast; null: nobody asks for quotes.
    std::shared_ptr<LiveQuotes> quotes{};
  };
  // `policy` is a second object of the active policy.
  LiveForecast(Settings settings, std::unique_ptr<Policy> policy);
  ~LiveForecast() override;

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  void AddTo(JobStatus* job) const override;
  std::string MetricsText() const override;

  // Waits until the forecast of the last observation is made or has failed. For tests.
  void Finish();

 private:
  struct Row {
    std::string name;
    JobForecast forecast;
  };
  struct Result {
    Seconds at = kUnknown;
    Seconds until = kUnknown;
    std::vector<Row> rows;
    std::vector<std::int32_t> by_name;  // indices of rows, sorted by name
    std::int64_t count = 0;
    std::int64_t failed = 0;
    double cpu_seconds = 0;  // of the last forecast
  };
  void Run();
  void Forecast(const std::shared_ptr<const LiveMoment>& from);
  void PauseIfDue();  // Error if the daemon ends meanwhile
  std::shared_ptr<const PastArrivals> ArrivalsOn(const ClusterSpec& cluster) const;
  std::shared_ptr<const ConfigurationTable> Copy(const ConfigurationTable* table);

  Settings settings_;

  // Used by its own thread.
  std::unique_ptr<Policy> policy_;
  LengthModel lengths_;
  std::shared_ptr<const PastArrivals> arrivals_;
  bool knows_arrivals_ = false;
  CpuBudget budget_;
  Seconds cpu_per_row_;  // per row shown to the policy, in the last forecast

  // Used by the daemon's thread.
  std::vector<EndedJob> ended_;  // since the last moment that was passed on
  std::int64_t moments_ = 0;
  std::map<const ConfigurationTable*, std::shared_ptr<const ConfigurationTable>> tables_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const LiveMoment> next_;  // passed to the thread
  bool busy_ = false;
  bool stop_ = false;
  double pause_until_ = 0;  // by the monotonic clock
  Result made_;
  std::thread thread_;  // last, so that it begins when all other members exist
};

}  // namespace allot
