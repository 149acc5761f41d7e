#include "workload/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/calendar.h"
#include "workload/job_rules.h"
#include "workload/row_error.h"

namespace allot {

TraceBuilder::TraceBuilder(std::string path, const ReadOptions& options, ReadReport* report)
    : path_(std::move(path)), options_(options), report_(report) {}

void TraceBuilder::Record(int line, const std::function<std::optional<Job>()>& read) {
  line_ = line;
  ++report_->rows;
  try {
    if (auto job = read()) Add(*std::move(job));
  } catch (const RowError& error) {
    if (!options_.lenient) throw;
    Drop("malformed: " + error.rule());
  }
}

std::nullopt_t TraceBuilder::Drop(std::string_view reason) {
  report_->Drop(reason, place());
  return std::nullopt;
}

std::string TraceBuilder::place() const { return fmt::format("{}:{}", path_, line_); }

void TraceBuilder::Add(Job job) {
  if (const auto broken = FindBrokenRule(job)) throw RowError(broken->rule, broken->got, place());
  const auto [first, added] = line_of_id_.emplace(job.id, line_);
  if (!added) {
    throw RowError("job ids must be unique",
                   fmt::format("{} on lines {} and {}", Quoted(job.id), first->second, line_),
                   place());
  }
  workload_.jobs.push_back(std::move(job));
}

Workload TraceBuilder::Finish() {
  workload_.Finish();
  return std::move(workload_);
}

Workload TraceBuilder::FinishCalendar() {
  auto& jobs = workload_.jobs;
  if (!jobs.empty()) {
    const auto first = std::min_element(
        jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.submit < b.submit; });
    const Seconds origin = first->submit;
    for (Job& job : jobs) job.submit -= origin;
    workload_.origin = FormatCalendar(static_cast<std::int64_t>(origin));
  }
  return Finish();
}

}  // namespace allot
