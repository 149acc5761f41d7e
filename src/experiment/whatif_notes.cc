#include "experiment/whatif_notes.h"

#include <fmt/format.h>

#include <algorithm>

namespace allot {
namespace {

std::string SomeOf(std::int64_t some, std::int64_t all) {
  return fmt::format("{} of {} job{}", some, all, all == 1 ? "" : "s");
}

}  // namespace

std::string TimeLimitNote(const TimeLimits& limits, const std::string& length_estimates) {
  if (limits.limited == 0) {
    return fmt::format(
        "The trace has no time limits: policies that go by run times got estimates ({}).",
        length_estimates);
  }
  std::string note;
  if (const std::int64_t without = limits.jobs - limits.limited; without > 0) {
    note = fmt::format("{} {} no time limit", SomeOf(without, limits.jobs),
                       without == 1 ? "has" : "have");
    const bool told = length_estimates == "user";
    note += told
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
  std::string note;
  if (running > 0) {
    note = fmt::format(
        "{} still ran when the record was taken: {} GPUs from the start or, where that was before "
        "the record, from its beginning, and beyond its end, for a time that is drawn from the "
        "jobs "
        "that ended and at most the time limit. {} in waits, GPU time and load, not in completion "
        "times. ",
        SomeOf(running, static_cast<std::int64_t>(workload.jobs.size())),
        running == 1 ? "it holds its" : "they hold their",
        running == 1 ? "It counts" : "They count");
  }
  if (pending > 0) {
    note += fmt::format(
        "{} still waited: {} GPUs, too, but {} in no mean, because nobody knows how long {} waited "
        "in the end. ",
        SomeOf(pending, static_cast<std::int64_t>(workload.jobs.size())),
        pending == 1 ? "it gets" : "they get", pending == 1 ? "is" : "are",
        pending == 1 ? "it" : "they");
  }
  return note + "What ended before the first submission is not in the file.";
}

std::string LeftOutNote(const ReadReport& report) {
  if (report.drops.empty()) return "";
  std::string note = "Records of the file that are not in these figures:";
  for (const DropCount& drop : report.LargestDrops()) {
    note +=
        fmt::format(" {} ({}{});", drop.reason, drop.rows,
                    drop.gpu_hours > 0 ? fmt::format(", {:.4g} GPU-hours", drop.gpu_hours) : "");
  }
  note.back() = '.';
  return note;
}

}  // namespace allot
