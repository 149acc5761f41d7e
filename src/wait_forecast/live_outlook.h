#pragma once
// Forecasts beside a running daemon (live/daemon/daemon.h): it follows the decisions, and a thread
// of its own forecasts from a copy of the last observation, so that decisions never wait for it.
// However many jobs there are, that thread has 1 % of a core at most (wait_forecast/cpu_share.h),
// and a forecast of more jobs than it can follow to the horizon looks less far ahead.
//
// It adds its forecast to each job of the status. Metrics name kMostJobs jobs at most.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "live/status/status_part.h"
#include "sched/driver.h"
#include "wait_forecast/calibration.h"
#include "wait_forecast/cpu_share.h"
#include "wait_forecast/outlook.h"
#include "workload/history.h"

namespace allot {

class LiveOutlook : public DecisionListener, public StatusPart {
 public:
  static constexpr std::size_t kMostJobs = 200;

  struct Settings {
    Seconds every = 10;  // seconds between forecasts, at least
    SimOptions rules{};
    OutlookOptions outlook{};
    OutlookCalibration calibration{};
    std::shared_ptr<const History> history;  // null: nobody else comes, nothing is known of lengths
    const Catalogue* catalogue = &Catalogue::Embedded();
    Seconds origin = 0;                            // calendar time of the run's 0, since 1970
    std::function<std::string(JobIndex)> name_of;  // asked in the daemon's thread
  };
  // `policy`: another object of the one in charge.
  LiveOutlook(Settings settings, std::unique_ptr<Policy> policy);
  ~LiveOutlook() override;

  void OnDecision(const Observation& observation, const Allocation& allocation) override;

  void AddTo(JobStatus* job) const override;
  std::string MetricsText() const override;

  // Waits until what was seen last is forecast, or could not be. For tests.
  void Finish();

 private:
  struct Moment;
  struct Row {
    std::string name;
    JobOutlook outlook;
  };
  struct Made {
    Seconds at = kUnknown;
    Seconds until = kUnknown;
    std::vector<Row> rows;
    std::vector<std::int32_t> by_name;  // rows, in the order of their names
    std::int64_t count = 0;
    std::int64_t failed = 0;
    double cpu_seconds = 0;  // of the last one
  };
  void Run();
  void Forecast(Moment& moment);  // takes its names
  void Rest();                    // Error where the daemon ends
  std::shared_ptr<const PastArrivals> ArrivalsOn(const ClusterSpec& cluster) const;
  std::shared_ptr<const ConfigurationTable> Copy(const ConfigurationTable* table);

  Settings settings_;

  // Of its own thread.
  std::unique_ptr<Policy> policy_;
  LengthModel lengths_;
  std::shared_ptr<const PastArrivals> arrivals_;
  bool knows_arrivals_ = false;
  CpuShare share_;
  Seconds cpu_per_row_;  // that the policy was shown, in the last forecast

  // Of the daemon's thread.
  std::vector<EndedJob> ended_;  // since the last moment that was handed over
  std::int64_t moments_ = 0;
  std::map<const ConfigurationTable*, std::shared_ptr<const ConfigurationTable>> tables_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Moment> next_;  // handed over
  bool busy_ = false;
  bool stop_ = false;
  double rest_until_ = 0;  // by the monotonic clock
  Made made_;
  std::thread thread_;  // last: it begins when all else is there
};

}  // namespace allot
