#include "experiment/whatif_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "metrics/evaluation_notes.h"
#include "perf/elastic.h"

namespace allot {
namespace {

std::string SomeOf(std::int64_t some, std::int64_t all) {
  return fmt::format("{} of {} job{}", some, all, all == 1 ? "" : "s");
}

}  // namespace

std::string TimeLimitNote(const TimeLimits& limits, const std::string& length_estimates) {
  if (limits.limited == 0) {
    return fmt::format(
        "The trace has no time limits. Run times that policies get which go by them: {}.",
        LengthEstimatesInWords(length_estimates));
  }
  std::string note;
  if (const std::int64_t without = limits.jobs - limits.limited; without > 0) {
    note = fmt::format("{} {} no time limit", SomeOf(without, limits.jobs),
                       without == 1 ? "has" : "have");
    const bool uses_limits = length_estimates == "user";
    note += uses_limits
                ? fmt::format(": policies that go by run times take {} for longer than any other. ",
                              without == 1 ? "it" : "them")
                : ". ";
  }
  if (limits.outlived > 0) {
    note +=
        fmt::format("{} with a time limit ran beyond it.", SomeOf(limits.outlived, limits.limited));
  }
  return note;
}

std::int64_t CountOutcome(const Workload& workload, Outcome outcome) {
  return std::count_if(workload.jobs.begin(), workload.jobs.end(),
                       [outcome](const Job& job) { return job.outcome == outcome; });
}

std::string RecordEdgesNote(const Workload& workload) {
  const std::int64_t running = CountOutcome(workload, Outcome::kRunning);
  const std::int64_t pending = CountOutcome(workload, Outcome::kPending);
  if (running + pending == 0) {
    return "The cluster is empty at the first submission: what ran before is not in the file.";
  }
  const auto jobs = static_cast<std::int64_t>(workload.jobs.size());
  std::string note;
  if (running > 0) {
    note = SomeOf(running, jobs) +
           " still ran when the record was taken. Such jobs hold their GPUs from their start, or "
           "from the beginning of the record if they began before it, until after its end. How "
           "long they run is ";
    note += running + pending < jobs ? "drawn from the jobs that ended, up to the time limit."
                                     : "guessed from how long they have run and the time limit.";
    note += " They count in waits, GPU time and load, but not in completion times. ";
  }
  if (pending > 0) {
    note += SomeOf(pending, jobs) +
            " still waited. Such jobs want GPUs like all others, but they are in no mean, because "
            "the record does not tell how long they wait in the end. ";
  }
  return note + "What ended before the first submission is not in the file.";
}

std::string FixedSizesNote(const WorldSpec& spec, const Workload& trace) {
  if (spec.rigid || spec.elastic) return "";
  const auto fixed = std::count_if(trace.jobs.begin(), trace.jobs.end(),
                                   [](const Job& job) { return job.model < 0 && !job.rigid(); });
  return FixedSizesInWords(fixed, static_cast<std::int64_t>(trace.jobs.size()));
}

DropCount DropsAs(std::initializer_list<std::string_view> reasons, const ReadReport& report) {
  DropCount all;
  for (const DropCount& drop : report.drops) {
    if (std::find(reasons.begin(), reasons.end(), drop.reason) == reasons.end()) continue;
    if (all.example.empty()) all.example = drop.example;
    all.rows += drop.rows;
    all.gpu_hours += drop.gpu_hours;
  }
  return all;
}

}  // namespace allot
