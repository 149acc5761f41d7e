#include "workload/formats/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/interrupt.h"
#include "table/row_error.h"
#include "workload/calendar.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

constexpr Seconds kNotDrawn = 1;  // the duration of an unfinished job while that is not known

}  // namespace

TraceBuilder::TraceBuilder(std::string path, const ReadOptions& options, ReadReport* report)
    : path_(std::move(path)), options_(options), report_(report) {}

void TraceBuilder::ExpectLines(std::string_view text) {
  workload_.jobs.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
}

void TraceBuilder::Record(int line, const std::function<std::optional<Job>()>& read) {
  ++report_->rows;
  Whole(line, read);
}

void TraceBuilder::Part(int line, const std::function<void()>& read) {
  ++report_->rows;
  Guard(line, read);
}

void TraceBuilder::Whole(int line, const std::function<std::optional<Job>()>& read) {
  Guard(line, [&] {
    if (auto job = read()) Add(*std::move(job));
  });
}

void TraceBuilder::Note(int line, const std::function<void()>& read) {
  Guard(line, [&] {
    try {
      read();
    } catch (const RowError&) {
      ++report_->rows;
      throw;
    }
  });
}

void TraceBuilder::Guard(int line, const std::function<void()>& read) {
  ThrowIfInterrupted();
  line_ = line;
  adjustments_.clear();
  try {
    read();
  } catch (const RowError& error) {
    if (!options_.lenient) throw DataError("{}; --lenient leaves such records out", error.what());
    Drop("malformed: " + error.rule());
  }
}

std::nullopt_t TraceBuilder::Drop(std::string_view reason, double gpu_seconds) {
  report_->Drop(reason, place(), gpu_seconds);
  return std::nullopt;
}

std::nullopt_t TraceBuilder::DropNotEnded(Seconds start, double gpus) {
  not_ended_.emplace_back(start, gpus);
  return Drop(kNotEnded);
}

void TraceBuilder::CountNotEnded() {
  if (not_ended_.empty()) return;
  Seconds until = -kNever;
  for (const auto& dropped : not_ended_) until = std::max(until, dropped.first);
  for (const Job& job : workload_.jobs) {
    until = std::max(until, job.submit + std::max(0.0, job.recorded_wait) + job.duration);
  }
  double gpu_seconds = 0;
  for (const auto& [start, gpus] : not_ended_) gpu_seconds += gpus * (until - start);
  const auto drop = std::find_if(report_->drops.begin(), report_->drops.end(),
                                 [](const DropCount& each) { return each.reason == kNotEnded; });
  drop->gpu_hours += gpu_seconds / 3600;
}

void TraceBuilder::Adjust(std::string_view reason) { adjustments_.emplace_back(reason); }

Seconds TraceBuilder::WaitFrom(Seconds submit, Seconds start) {
  if (start < submit) Adjust(kStartBeforeSubmit);
  return std::max(0.0, start - submit);
}

std::string TraceBuilder::RowId() const { return std::to_string(report_->rows - 1); }

std::string TraceBuilder::place() const { return fmt::format("{}:{}", path_, line_); }

void TraceBuilder::Add(Job job) {
  const Seconds lasted = job.outcome == Outcome::kPending ? 0 : job.duration;
  if (job.outcome == Outcome::kRunning) job.recorded_wait = std::max(0.0, job.recorded_wait);
  if (!job.ended() && job.duration == 0) job.duration = kNotDrawn;
  if (const auto broken = FindBrokenRule(job)) throw RowError(broken->rule, broken->got, place());
  job.line = line_;
  std::vector<Job>& jobs = workload_.jobs;
  jobs.push_back(std::move(job));
  if (const auto first = ids_.Enter(jobs, jobs.size() - 1)) {
    const std::string id = std::move(jobs.back().id);
    jobs.pop_back();
    throw RowError("job ids must be unique",
                   fmt::format("{} on lines {} and {}", Quoted(id), jobs[*first].line, line_),
                   place());
  }
  if (!jobs.back().ended()) unfinished_.push_back({jobs.size() - 1, lasted});
  for (const std::string& reason : adjustments_) report_->Adjust(reason, place());
}

// A column in other units than its reader takes it for gives such jobs, and they decide every mean.
void TraceBuilder::NoteVeryLongJobs() const {
  constexpr Seconds kVeryLong = 10 * 365.25 * 86400;
  std::int64_t count = 0;
  const Job* first = nullptr;
  for (const Job& job : workload_.jobs) {
    if (!(job.duration > kVeryLong)) continue;
    if (count++ == 0) first = &job;
  }
  if (count == 0) return;
  report_->notes.push_back(fmt::format(
      "run times above ten years: {} of {} jobs, the first '{}' with {} s ({}:{}); is their unit "
      "right?",
      count, workload_.jobs.size(), first->id, first->duration, path_, first->line));
}

// The record ends with the last that is known to have happened.
void TraceBuilder::FindRecordTimes() {
  Seconds until = last_seen_;
  Seconds first = kNever;
  Seconds first_ended = kNever;
  for (const Job& job : workload_.jobs) {
    first = std::min(first, job.submit);
    if (!job.ended()) continue;
    first_ended = std::min(first_ended, job.submit);
    until = std::max(until, job.submit + std::max(0.0, job.recorded_wait) + job.duration);
  }
  for (const auto& [job, lasted] : unfinished_) {
    if (workload_.jobs[job].outcome == Outcome::kPending) continue;
    until = std::max(until, workload_.jobs[job].recorded_start() + lasted);
  }
  if (until == -kNever) until = workload_.jobs.back().submit;
  workload_.recorded_until = until;
  if (first < first_ended && first_ended < kNever) workload_.recorded_from = first_ended;
}

void TraceBuilder::DrawUnfinished() {
  if (unfinished_.empty()) return;
  FindRecordTimes();
  std::vector<Seconds> lengths;
  lengths.reserve(workload_.jobs.size());
  for (const Job& job : workload_.jobs) lengths.push_back(job.duration);
  for (UnfinishedJob& one : unfinished_) {
    const Job& job = workload_.jobs[one.job];
    if (job.outcome == Outcome::kPending) continue;
    one.lasted = std::max(one.lasted, *workload_.recorded_until - job.recorded_start());
  }
  DrawLengths(workload_.jobs, unfinished_, 0, &lengths);
  const auto running =
      std::count_if(workload_.jobs.begin(), workload_.jobs.end(),
                    [](const Job& job) { return job.outcome == Outcome::kRunning; });
  const bool none_ended = unfinished_.size() == workload_.jobs.size();
  report_->notes.push_back(fmt::format(
      "when the record was taken, {} of {} jobs still ran and {} waited: how long they take is {}, "
      "and they are in no completion time",
      running, workload_.jobs.size(), static_cast<std::ptrdiff_t>(unfinished_.size()) - running,
      none_ended ? "guessed from how long they have run and from their time limits, as none has "
                   "ended"
                 : "drawn from the others"));
  for (const UnfinishedJob& one : unfinished_) workload_.jobs[one.job].duration = lengths[one.job];
}

Workload TraceBuilder::Finish() {
  CountNotEnded();
  NoteVeryLongJobs();
  DrawUnfinished();
  workload_.Finish();
  return std::move(workload_);
}

Workload TraceBuilder::FinishCalendar() {
  auto& jobs = workload_.jobs;
  if (!jobs.empty()) {
    const auto first = std::min_element(
        jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.submit < b.submit; });
    const Seconds origin = first->submit;
    for (Job& job : jobs) {
      job.submit -= origin;
      job.deadline -= origin;
    }
    for (auto& dropped : not_ended_) dropped.first -= origin;
    last_seen_ -= origin;
    workload_.origin = FormatCalendar(static_cast<std::int64_t>(origin));
  }
  return Finish();
}

}  // namespace allot
