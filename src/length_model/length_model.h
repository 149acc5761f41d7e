#pragma once
// Predicts how much longer jobs take, from their size class, submitter, attained service, an
// estimate if there is one, and the jobs that ended before. Learns from a history and from the run
// itself; does not know true lengths. Used by index policies and by the feature encoder.
//
// Without an estimate: the distribution of run times by size class (1, 2-4, 5-8, more GPUs; another
// class's jobs count an eighth), given the time attained; drawn towards the runs of the job's user,
// and towards those of its group (length_model/submitter_tables.h). With one: the distribution of
// the ratio of run time to estimate, by class of the estimate, drawn towards the user's ratios. All
// times in it are seconds at the requested size. Predictions are for the smallest configuration, so
// that jobs are compared by the work they need. Tenants are ignored, because some traces fill them
// by outcome.

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

  // Call before it learns anything.
  void SetOptions(const SubmitterOptions& options);

  // Learns from jobs submitted before `until`; one that still runs then counts as ending there.
  // Call before the first episode.
  void Learn(const Workload& history, Seconds until);

  // What it learned from histories, as numbers by size class and by names of users and groups.
  // Stored with the weights of a policy.
  std::vector<std::vector<double>> learned() const;
  const RunsByName& submitters() const { return by_submitter_.history(); }
  // UsageError for another shape and for impossible bins or counts.
  void SetLearned(const std::vector<std::vector<double>>& counts, RunsByName submitters = {});

  void OnEpisodeStart();               // forgets the last episode
  void Observe(const Observation& o);  // call at every decision, before Predict and the like

  struct RemainingTime {  // in the smallest configuration
    double rank = 0;      // inverse Gittins index: least expected service per completion
    double median = 0;
    double high = 0;  // not exceeded with probability 0.9
  };
  RemainingTime Predict(const Observation& o, std::int32_t row) const;
  double Rank(const Observation& o, std::int32_t row) const;  // the rank of Predict alone
  // The quantile of that time at `level` in [0, 1), for drawing it. O(bins).
  double Remaining(const Observation& o, std::int32_t row, double level) const;

 private:
  static constexpr std::size_t kSizeClasses = 4;
  static constexpr std::size_t kEstimateClasses = 3;
  struct Tables {
    std::vector<GittinsTable> by_size;      // seconds
    std::vector<GittinsTable> by_estimate;  // seconds / estimated seconds
  };
  static void Add(GpuCount gpus, double seconds, Tables* tables);
  // The distributions that apply to a row.
  struct Question {
    const GittinsTable* of_class;
    const RankedSizes* of_submitter;  // null: use the class
    double attained;                  // in units
    double scale;                     // seconds in the smallest configuration per unit
  };
  void Learn(const EndedJob& ended);
  void ObserveUnfinished(const Observation& o);
  Question QuestionOf(const Observation& o, std::int32_t row) const;

  Tables initial_;
  Tables tables_;
  SubmitterTables by_submitter_;    // seconds
  SubmitterTables ratios_by_user_;  // seconds / estimated seconds
  std::vector<double> lasted_;      // by row: seconds so far
  std::vector<double> lasted_ratios_;
  EventCursor events_;
};

// A model that has learned the history, or nothing if that is null. Each history's model is made
// once while the history lives. Thread-safe.
LengthModel LengthModelOf(const std::shared_ptr<const History>& history,
                          const SubmitterOptions& options = {});

}  // namespace allot
