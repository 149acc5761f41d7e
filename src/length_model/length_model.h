#pragma once
// How much longer jobs take, as far as their size class, who submitted them, what they had so far,
// an estimate if there is one, and the jobs that ended before them tell. Learned from a history and
// from the run itself; knows nothing of the truth. Asked by index policies and by the feature
// encoder.
//
// Without an estimate: the distribution of run times by size class (1, 2-4, 5-8, more GPUs; another
// class's jobs count an eighth), given the time attained; drawn towards the runs of the job's user,
// and towards those of its group (length_model/submitter_tables.h). With one: the distribution of
// the ratio of run time to estimate, by class of the estimate, drawn towards the user's ratios. All
// times in it are seconds at the requested size. Forecasts are of the smallest configuration: jobs
// are compared by the work they need. Tenants are not looked at: some traces fill them by outcome.

#include <memory>
#include <vector>

#include "cluster/observation.h"
#include "length_model/gittins_table.h"
#include "length_model/submitter_tables.h"
#include "workload/history.h"

namespace allot {

class LengthModel {
 public:
  explicit LengthModel(const SubmitterOptions& options);
  LengthModel() : LengthModel(SubmitterOptions{}) {}

  // Before it learns anything.
  void SetOptions(const SubmitterOptions& options);

  // Before the first episode. Jobs submitted from `until` on stay unseen; a run that goes on at
  // `until` counts as if it ended there.
  void Learn(const Workload& history, Seconds until);

  // What it learned so, as numbers by size class and by names of users and groups: to be kept with
  // the weights of a policy.
  std::vector<std::vector<double>> learned() const;
  const RunsByName& submitters() const { return by_submitter_.history(); }
  // UsageError for another shape, and for bins and counts that cannot be.
  void SetLearned(const std::vector<std::vector<double>>& counts, RunsByName submitters = {});

  void OnEpisodeStart();               // forgets what it saw in the last one
  void Observe(const Observation& o);  // at every decision, before it is asked

  struct Forecast {   // of the remaining time in the smallest configuration
    double rank = 0;  // inverse Gittins index: least expected service per completion
    double median = 0;
    double high = 0;  // not exceeded with probability 0.9
  };
  Forecast Of(const Observation& o, std::int32_t row) const;
  double Rank(const Observation& o, std::int32_t row) const;  // of Of
  // The same time's quantile, `level` in [0, 1): for drawing it. O(bins).
  double Remaining(const Observation& o, std::int32_t row, double level) const;

 private:
  static constexpr std::size_t kSizeClasses = 4;
  static constexpr std::size_t kEstimateClasses = 3;
  struct Tables {
    std::vector<GittinsTable> by_size;      // of seconds
    std::vector<GittinsTable> by_estimate;  // of seconds / estimated seconds
  };
  static void Add(GpuCount gpus, double seconds, Tables* tables);
  // Where to look a row up, in what unit, and what it has attained of it.
  struct Question {
    const GittinsTable* of_class;
    const RankedSizes* of_submitter;  // null: ask the class
    double attained;
    double scale;  // seconds in the smallest configuration, of one unit
  };
  void Learn(const EndedJob& ended);
  void ObserveUnfinished(const Observation& o);
  Question QuestionOf(const Observation& o, std::int32_t row) const;

  Tables initial_;
  Tables tables_;
  SubmitterTables by_submitter_;    // of seconds
  SubmitterTables ratios_by_user_;  // of seconds / estimated seconds
  std::vector<double> lasted_;      // by row: of seconds
  std::vector<double> lasted_ratios_;
  EventCursor events_;
};

// A model that has learned the history; null: one that knows nothing. The model of a history is
// made once while the history lives. Thread-safe.
LengthModel LengthModelOf(const std::shared_ptr<const History>& history,
                          const SubmitterOptions& options = {});

}  // namespace allot
