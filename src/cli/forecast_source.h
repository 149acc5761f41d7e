#pragma once
// The moment from which forecasts look ahead, and what is known of the time before it: options,
// reading, and the run up to it. Shared by 'allot forecast' and 'allot quote'.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/command_line.h"
#include "experiment/global_options.h"
#include "experiment/world.h"
#include "length_model/length_model.h"
#include "wait_forecast/wait_forecaster.h"

namespace allot {

struct ForecastSourceOptions {
  ForecastSourceOptions() { world.oversized = "drop"; }  // nodes may be drained today

  WorldSpec world;
  std::string policy;  // "" stands for the default
  std::string at;
  std::string history;
  std::string calibration;
  int samples = 0;
  std::string horizon = "14d";
  std::string settle = "1d";
  std::string block = "1d";
  LengthCorrelations correlations{};
};

// Declares world, policy, moment and history, with the same names and texts for both commands, and
// the options of estimates. `options` must outlive `line`.
void DeclareForecastSource(CommandLine& line, ForecastSourceOptions& options);

Seconds ForecastSpan(const std::string& text);  // "6h"

class ForecastSource {
 public:
  // Reads what the options name, and reports on stderr what a person should know of it. `check`:
  // forecasts at many moments of a run, so that no moment is needed. UsageError for policies that
  // need true lengths, and where it is not known which moment is meant.
  ForecastSource(ForecastSourceOptions options, bool check, const GlobalOptions& globals);

  const ForecastSourceOptions& options() const { return options_; }
  World& world() { return world_; }
  const Scenario& scenario() const { return *scenario_; }
  Policy& present() { return *present_; }
  Policy& future() { return *future_; }  // a second object of the same policy
  const LengthModel& lengths() const { return before_.lengths; }
  bool has_history() const { return before_.arrivals != nullptr; }
  const WaitForecaster& forecaster() const { return *forecaster_; }
  Seconds origin() const;  // calendar time of the scenario's 0

  // Calls `use` once with the moment, whose rows may be none, and the lengths as they are known
  // then.
  using Use = std::function<void(const Observation&, const LengthModel&)>;
  void AtMoment(const Use& use);

  // What is known of the time before the moment.
  struct Before {
    LengthModel lengths;
    std::shared_ptr<const PastArrivals> arrivals;  // null if unknown
    // Jobs of --history that ended and had a time limit, for the moment of an export: the length
    // model learns the fraction of their limits that they used only from events.
    std::vector<EndedJob> ended{};
  };

 private:
  void BeginWithRecord(const Use& use);
  void RunUpTo(const Use& use);

  ForecastSourceOptions options_;
  bool quiet_;
  World world_;
  bool of_record_ = false;
  std::unique_ptr<Policy> present_;
  std::unique_ptr<Policy> future_;
  std::shared_ptr<const Scenario> scenario_;
  Seconds at_ = 0;
  Before before_;
  std::unique_ptr<const WaitForecaster> forecaster_;
};

}  // namespace allot
