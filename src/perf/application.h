#pragma once
// An application: a training program as it was measured from the first to the last epoch, on one or
// several GPU types. It has what a simulator needs to play a job whose batch follows its GPUs:
// iteration times (perf/profiled_times.h), the statistics of its gradients by epoch and batch, the
// ends of epochs and what it may do. Made by ReadApplications (perf/application_files.h).
//
// Work counts in iterations at the initial batch M0, as in perf/goodput_model.h: progress. Sources
// as there, and Sia (Jayaram Subramanya et al., SOSP'23) for GPU types.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "perf/goodput_model.h"
#include "perf/profiled_times.h"

namespace allot {

struct ApplicationOnType {
  std::string gpu_type;  // kUnnamedGpuType where the files name none
  BatchLimits limits;
  Seconds restart = 0;  // of a change of its allocation
  // GPUs of one pipeline; 1: data parallel. GPU counts are multiples of it.
  std::int32_t stages = 1;
  // Of a program that cannot choose: its one total batch, and the most GPUs that it is given where
  // its user does not ask for more; 0: it chooses.
  double fixed_batch = 0;
  GpuCount most_gpus = 0;
  ProfiledTimes times;
};

// Its training with one total batch, measured from the first to the last epoch.
struct TrainingCurve {
  struct Epoch {
    double progress = 0;    // at its end, since the start
    double iterations = 0;  // of this batch, likewise
    GradientStatistics statistics;
  };
  double batch = 0;
  std::vector<Epoch> epochs;
};

class Application {
 public:
  // DataError where a rule is broken (`place` for messages: the folder): types of equal M0, at
  // least one; curves by ascending batch, at least one, of equally many epochs, at least one;
  // epochs of each that end one after the other.
  Application(std::string name, std::vector<ApplicationOnType> types,
              std::vector<TrainingCurve> curves, std::string place);

  const std::string& name() const { return name_; }
  const std::string& place() const { return place_; }
  double initial_batch() const { return types_.front().limits.initial; }  // M0, samples
  std::int32_t epochs() const { return static_cast<std::int32_t>(ends_.size()); }
  double total_progress() const { return ends_.back(); }
  // At the end of an epoch, from 0: the least over the batches it was measured with.
  double ProgressUntil(std::int32_t epoch) const { return ends_[static_cast<std::size_t>(epoch)]; }
  // In which epoch so much progress is; the number of epochs at the end.
  std::int32_t EpochAt(double progress) const;

  // Of this total batch in this epoch, from 0: linear between measured batches, the nearest beyond.
  GradientStatistics StatisticsIn(std::int32_t epoch, double batch) const;
  // Gain of an iteration with this total batch: progress it is worth.
  double GainIn(std::int32_t epoch, double batch) const {
    return StatisticsIn(epoch, batch).Gain(batch / initial_batch());
  }
  // Iterations of this total batch until the end of the epoch, likewise.
  double IterationsUntil(std::int32_t epoch, double batch) const;

  const std::vector<ApplicationOnType>& types() const { return types_; }
  // Null where it was not measured there. The unnamed type, and "", is the first; one that was
  // measured on the unnamed type alone is the same on all.
  const ApplicationOnType* On(std::string_view gpu_type) const;

 private:
  std::string name_;
  std::string place_;
  std::vector<ApplicationOnType> types_;
  std::vector<TrainingCurve> curves_;
  std::vector<double> ends_;                              // progress, by epoch
  std::vector<std::vector<StatisticsPoint>> statistics_;  // by epoch
};

using ApplicationPtr = std::shared_ptr<const Application>;

}  // namespace allot
