#pragma once
// A job that trains an application, played in steps (TrainingRules::stepped): the simulators of
// Pollux (Qiao et al., OSDI'21, artifact, simulator) and Sia (Jayaram Subramanya et al., SOSP'23,
// artifact), which charge whole epochs and let jobs choose their batch between.

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "perf/application_model.h"
#include "sim/training_belief.h"
#include "sim/training_rules.h"

namespace allot {

class TrainingRun {
 public:
  // How a job chooses: its batch at this place in this epoch.
  using Chooser = std::function<BatchChoice(const RunShape& shape, std::int32_t epoch)>;
  // What it measures before it chooses again; null: nobody asks.
  using Meter = std::function<void(const TrainingMeasurement&)>;

  TrainingRun(const ApplicationModel& model, const TrainingRules& rules);

  double done() const { return done_; }
  std::int32_t epoch() const { return epoch_; }  // the number of epochs once it is done
  bool placed() const { return !canonical_.empty(); }
  const BatchChoice& batch() const { return batch_; }
  double rate() const { return rate_; }  // progress per second when it last advanced
  bool over_several_nodes() const { return canonical_.size() > 1; }

  // From now on on these GPUs, with the batch that it chooses. DataError where it was not measured
  // there.
  void Place(std::string_view gpu_type, std::span<const UnitCounts> nodes, const Chooser& choose);
  void Stop() { canonical_.clear(); }

  // Trains for so many seconds, or until it is done; at `factor` of its speed. Returns the seconds
  // that it took. DataError where its iteration time is not known.
  Seconds Advance(Seconds seconds, double factor, const Chooser& choose, const Meter& measure);
  bool finished() const { return epoch_ >= application_.epochs(); }

 private:
  void Look();  // up its iteration time
  void Choose(const Chooser& choose);

  const Application& application_;
  const TrainingRules& rules_;
  double slowdown_;
  double done_ = 0;
  std::int32_t epoch_ = 0;
  std::string canonical_;
  std::string gpu_type_;
  std::vector<UnitCounts> nodes_;
  ProfiledTimes::Place place_;
  const ApplicationOnType* type_ = nullptr;
  BatchChoice batch_;
  StepTime time_;
  double rate_ = 0;
};

}  // namespace allot
