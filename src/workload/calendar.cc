#include "workload/calendar.h"

#include "core/duration_text.h"
#include "core/error.h"
#include "core/strings.h"
#include "table/row_error.h"
#include "workload/job_rules.h"

namespace allot {

Seconds ParseWhen(const Workload& workload, std::string_view text) {
  if (const auto time = ParseCalendar(text)) {
    const auto origin = ParseCalendar(workload.origin);
    if (!origin) {
      throw UsageError(
          "a calendar time needs a workload that knows when it began, got '{}' for '{}'; "
          "give seconds or days from its start (\"3600\", \"14d\")",
          text, workload.name);
    }
    return static_cast<Seconds>(*time - *origin);
  }
  if (BeginsLikeDate(text)) {
    throw UsageError("a time must be a day and a time of day that exist, got {}", Quoted(text));
  }
  const auto value = ParseDuration(text);
  if (!value || *value < 0 || *value > kLongestTime) {
    throw UsageError("a time must be like 2017-11-13, \"2017-11-13 08:00:00\", or {}, got {}",
                     kDurationForms, Quoted(text));
  }
  return *value;
}

}  // namespace allot
