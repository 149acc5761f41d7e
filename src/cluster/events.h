#pragma once
// What has happened to the jobs since the decision before: part of every observation, so that a
// policy that remembers something need not compare this observation with the last one.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/job_columns.h"
#include "core/types.h"

namespace allot {

// The last that is known of a job that has ended, declared once like the columns of the
// observation. Plain numbers: its table may be gone.
// X(type, name, where nothing is known, rule, unit, meaning)
#define ALLOT_ENDED_FIELDS(X)                                                             \
  X(JobIndex, job, -1, kAny, "", "number of the job; -1: unknown")                        \
  X(Seconds, submit, 0, kFinite, "s", "when it was submitted")                            \
  X(Seconds, end, 0, kFinite, "s", "when it ended")                                       \
  X(double, work, 0, kNotNegative, "work", "done until then, in its own unit")            \
  X(double, estimated_work, kUnknown, kOrUnknown, "work", "as last estimated; NaN: none") \
  X(double, requested_rate, 1, kPositive, "work/s", "in the configuration it asked for")  \
  X(std::int32_t, requested_gpus, 1, kAny, "", "GPUs of that configuration")              \
  X(double, gpu_seconds, 0, kNotNegative, "GPU s", "GPUs held x time held")               \
  X(Seconds, held_seconds, 0, kNotNegative, "s", "time it held GPUs")                     \
  X(std::int32_t, tenant, -1, kAny, "", "as in the observation")                          \
  X(std::int32_t, user, -1, kAny, "", "as in the observation")                            \
  X(std::int32_t, group, -1, kAny, "", "as in the observation")

struct EndedJob {
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning) type name = absent;
  ALLOT_ENDED_FIELDS(ALLOT_FIELD)
#undef ALLOT_FIELD

  // Its work, and the estimate of it, as time in the configuration it asked for.
  Seconds requested_seconds() const { return work / requested_rate; }
  Seconds estimated_seconds() const { return estimated_work / requested_rate; }
};

template <typename T>
struct EndedField {
  using Value = T;
  const char* name;
  NumberRule rule;
  T EndedJob::*value;
};

// visit(EndedField<T>) for each, in the order of the list.
template <typename F>
void ForEachEndedField(const F& visit) {
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning) \
  visit(EndedField<type>{#name, NumberRule::rule, &EndedJob::name});
  ALLOT_ENDED_FIELDS(ALLOT_FIELD)
#undef ALLOT_FIELD
}

struct Events {
  // Counts observations with events within an episode: 1 for the first, then 2, 3, ... 0: nobody
  // tells what happened (a moment made by hand); see EventCursor.
  std::int64_t number = 0;

  std::vector<std::int32_t> arrived;        // rows that were not rows before, ascending
  std::vector<EndedJob> ended;              // by job
  std::vector<std::int32_t> changed;        // rows that started, stopped, were resized or moved,
                                            // ascending
  std::vector<std::int32_t> table_changed;  // rows whose table is another or has other rates

  // A row that started, stopped, was resized or moved.
  void Change(std::int32_t row) {
    if (changed.empty() || changed.back() < row) {
      changed.push_back(row);
      return;
    }
    const auto at = std::lower_bound(changed.begin(), changed.end(), row);
    if (*at != row) changed.insert(at, row);
  }
  // Rows (ascending, at least one) are rows no more: those behind them move up.
  void EraseRows(std::span<const std::int32_t> gone);

  void Clear() {
    arrived.clear();
    ended.clear();
    changed.clear();
    table_changed.clear();
  }
};

// What one reader has seen of the events. A policy inside another one may not be asked at every
// decision, and may be asked twice at one.
class EventCursor {
 public:
  enum class Step {
    kAgain,  // the same events as before: there is nothing new
    kNext,   // these tell all that happened since the reader last looked
    kMissed  // there were others in between, or nobody tells: compare for yourself
  };
  void Reset() { last_ = 0; }
  Step Follow(const Events& events) {
    const std::int64_t before = last_;
    last_ = events.number;
    if (events.number == 0) return Step::kMissed;
    if (events.number == before) return Step::kAgain;
    return events.number == before + 1 ? Step::kNext : Step::kMissed;
  }

 private:
  std::int64_t last_ = 0;
};

}  // namespace allot
