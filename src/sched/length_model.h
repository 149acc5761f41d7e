#pragma once
// How much longer jobs take, as far as their size class, what they had so far, an estimate if there
// is one, and the jobs that ended before them tell. Learned from a history and from the run itself;
// knows nothing of the truth. Asked by index policies and by the feature encoder.
//
// Without an estimate: the distribution of run times by size class (1, 2-4, 5-8, more GPUs; another
// class's jobs count an eighth), given the time attained. With one: the distribution of the ratio
// of run time to estimate, by class of the estimate. All times in it are seconds at the requested
// size. Forecasts are of the smallest configuration: jobs are compared by the work they need.

#include <string>
#include <vector>

#include "cluster/observation.h"
#include "sched/ended_jobs.h"
#include "sched/gittins_table.h"
#include "workload/workload.h"

namespace allot {

class LengthModel {
 public:
  LengthModel();

  // Before the first episode. Jobs submitted from `until` on stay unseen; a run that goes on at
  // `until` counts as if it ended there.
  void Learn(const Workload& history, Seconds until);

  // What it learned so, as numbers by size class: to be kept with the weights of a policy.
  std::vector<std::vector<double>> learned() const;
  void SetLearned(const std::vector<std::vector<double>>& counts);  // UsageError for another shape

  void OnEpisodeStart();               // forgets what it saw in the last one
  void Observe(const Observation& o);  // at every decision, before it is asked

  struct Forecast {   // of the remaining time in the smallest configuration
    double rank = 0;  // inverse Gittins index: least expected service per completion
    double median = 0;
    double high = 0;  // not exceeded with probability 0.9
  };
  Forecast Of(const Observation& o, std::int32_t row) const;
  double Rank(const Observation& o, std::int32_t row) const;  // of Of

 private:
  static constexpr std::size_t kSizeClasses = 4;
  static constexpr std::size_t kEstimateClasses = 3;
  struct Tables {
    std::vector<GittinsTable> by_size;      // of seconds
    std::vector<GittinsTable> by_estimate;  // of seconds / estimated seconds
  };
  static void Add(GpuCount gpus, double seconds, Tables* tables);

  Tables initial_;
  Tables tables_;
  EndedJobs ended_;
};

// A model that knows the history "trace.csv@2017-11-13": of the trace, what was submitted before
// the date (without @: all). Each history is read once in the life of the program. Thread-safe.
LengthModel LengthModelOf(const std::string& history);

}  // namespace allot
