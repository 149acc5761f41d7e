#pragma once
// What an observation says of each unfinished job. Every column is declared once, in the list
// below: name, unit, meaning, what it is where nothing is known, and which numbers it may hold.
// All code that handles every column (copy, erase, JSON, logs, the C interface) goes through
// ForEachJobColumn. To add a column: add a line here, and set it where observations are made
// (JobRow has a field of its name; who does not set it leaves what is declared here).

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/erase_rows.h"
#include "core/types.h"
#include "perf/configuration.h"

namespace allot {

// Which numbers a column may hold; checked where they come from outside.
enum class NumberRule { kAny, kFinite, kNotNegative, kPositive, kOrUnknown, kOrInfinite };

inline bool Holds(NumberRule rule, double value) {
  switch (rule) {
    case NumberRule::kAny:
      return true;
    case NumberRule::kFinite:
      return std::isfinite(value);
    case NumberRule::kNotNegative:
      return std::isfinite(value) && value >= 0;
    case NumberRule::kPositive:
      return std::isfinite(value) && value > 0;
    case NumberRule::kOrUnknown:
      return !std::isinf(value);
    case NumberRule::kOrInfinite:
      return !std::isnan(value);
  }
  return false;
}

inline const char* TextOf(NumberRule rule) {
  constexpr const char* kTexts[] = {"any number",     "finite",        "finite and >= 0",
                                    "finite and > 0", "finite or NaN", "finite or infinite"};
  return kTexts[static_cast<int>(rule)];
}

// X(type, name, where nothing is known, rule, unit, meaning)
#define ALLOT_JOB_COLUMNS(X)                                                                   \
  X(JobIndex, job, 0, kAny, "", "number of the job, its own for the episode")                  \
  X(Seconds, submit, 0, kFinite, "s", "when it was submitted")                                 \
  X(const ConfigurationTable*, table, nullptr, kAny, "", "the configurations it can be given") \
  X(std::int32_t, requested, 0, kAny, "configuration", "what it asked for (fastest type)")     \
  X(std::int32_t, running, -1, kAny, "configuration", "what it runs in; -1: it waits")         \
  X(double, done_work, 0, kNotNegative, "work", "progress, in the job's own unit of work")     \
  X(double, estimated_work, kUnknown, kOrUnknown, "work", "estimate of its total; NaN: none")  \
  X(double, attained_gpu_seconds, 0, kNotNegative, "GPU s", "GPUs held x time held, so far")   \
  X(Seconds, attained_seconds, 0, kNotNegative, "s", "time it has held GPUs, so far")          \
  X(Seconds, restart_cost, 30, kNotNegative, "s", "progress lost by a change of allocation")   \
  X(std::int32_t, changes, 0, kAny, "", "allocations begun so far: launches and resizes")      \
  X(Seconds, waiting_since, 0, kFinite, "s", "start of the present wait; now where it runs")   \
  X(double, priority, 0, kFinite, "", "larger is more important")                              \
  X(Seconds, deadline, kNever, kOrInfinite, "s", "when it should be done; infinite: none")     \
  X(std::int32_t, tenant, -1, kAny, "", "who shares the cluster; -1: unknown")                 \
  X(std::int32_t, user, -1, kAny, "", "who submitted it; -1: unknown")                         \
  X(std::int32_t, group, -1, kAny, "",                                                         \
    "what its user calls alike (application, script); -1: unknown")

// The values of one job.
struct JobRow {
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning) type name = absent;
  ALLOT_JOB_COLUMNS(ALLOT_FIELD)
#undef ALLOT_FIELD
};

struct JobColumns;

// A column as code that handles all of them sees it.
template <typename T>
struct JobColumn {
  using Value = T;
  const char* name;
  const char* unit;
  const char* meaning;
  T absent;
  NumberRule rule;
  std::vector<T> JobColumns::*values;
  T JobRow::*value;
};

// visit(JobColumn<T>) for each column, in the order of the list.
template <typename F>
void ForEachJobColumn(const F& visit);

// One vector per column, all of one length: the number of rows.
struct JobColumns {
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning) std::vector<type> name;
  ALLOT_JOB_COLUMNS(ALLOT_FIELD)
#undef ALLOT_FIELD

  std::int32_t rows() const { return static_cast<std::int32_t>(job.size()); }

  void AppendRow(const JobRow& row) {
    ForEachJobColumn([&](const auto& c) { (this->*c.values).push_back(row.*c.value); });
  }
  JobRow Row(std::int32_t row) const {
    JobRow values;
    ForEachJobColumn(
        [&](const auto& c) { values.*c.value = (this->*c.values)[static_cast<std::size_t>(row)]; });
    return values;
  }
  void ClearRows() {
    ForEachJobColumn([&](const auto& c) { (this->*c.values).clear(); });
  }
  // Without these rows: ascending, at least one. O(rows).
  void EraseRows(const std::vector<std::int32_t>& gone) {
    ForEachJobColumn([&](const auto& c) { EraseRowsOf(gone, &(this->*c.values)); });
  }
};

template <typename F>
void ForEachJobColumn(const F& visit) {
#define ALLOT_FIELD(type, name, absent, rule, unit, meaning)                               \
  visit(JobColumn<type>{#name, unit, meaning, absent, NumberRule::rule, &JobColumns::name, \
                        &JobRow::name});
  ALLOT_JOB_COLUMNS(ALLOT_FIELD)
#undef ALLOT_FIELD
}

// Where a source does not tell them: a job that runs was launched once and does not wait, one that
// does not run waits since its submission.
inline std::int32_t UsualChanges(std::int32_t running) { return running >= 0 ? 1 : 0; }
inline Seconds UsualWaitingSince(std::int32_t running, Seconds submit, Seconds now) {
  return running >= 0 ? now : submit;
}

}  // namespace allot
