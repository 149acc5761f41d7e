#include "metrics/run_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "core/check.h"
#include "core/file.h"
#include "core/json_text.h"
#include "metrics/csv.h"
#include "metrics/json_field.h"

namespace allot {

std::vector<TracedJob> TracedJobs(const Workload& workload) {
  std::vector<TracedJob> traced;
  traced.reserve(workload.jobs.size());
  for (const Job& job : workload.jobs) {
    traced.push_back({job.id, job.gpus, job.duration, workload.tenants[job.tenant],
                      workload.users[job.user], job.outcome});
  }
  return traced;
}

namespace {

bool HadNotEnded(const TracedJob& job) {
  return job.outcome == Outcome::kRunning || job.outcome == Outcome::kPending;
}

std::string_view OutcomeColumn(const TracedJob& job) {
  return !HadNotEnded(job) ? ",ended" : job.outcome == Outcome::kRunning ? ",running" : ",pending";
}

}  // namespace

std::string JobsCsv(std::span<const JobRecord> records, std::span<const TracedJob> jobs) {
  // Jobs that had not ended with their trace ran for a time that was drawn.
  const bool cut_off = std::any_of(jobs.begin(), jobs.end(), HadNotEnded);
  std::string text =
      "job_id,submit_s,first_start_s,finish_s,jct_s,gpu_seconds,preemptions,restarts,gpus,run_s,"
      "tenant,user";
  text += cut_off ? ",outcome\n" : "\n";
  const auto out = std::back_inserter(text);
  // To the microsecond: duration x rate / rate is the duration but for its last bit.
  const auto micro = [](double value) { return std::round(value * 1e6) / 1e6; };
  const auto time = [micro](Seconds value) {
    return value == kNever ? std::string() : fmt::format("{}", micro(value));
  };
  for (const JobRecord& record : records) {
    const auto job = static_cast<std::size_t>(record.job);
    ALLOT_CHECK_LT(job, jobs.size());
    const TracedJob& traced = jobs[job];
    fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{},{}{}\n", CsvField(traced.id),
                   record.submit, time(record.first_start), time(record.finish),
                   time(record.finish - record.submit), micro(record.gpu_seconds),
                   record.preemptions, record.restarts, traced.gpus, micro(traced.duration),
                   CsvField(traced.tenant), CsvField(traced.user),
                   cut_off ? OutcomeColumn(traced) : "");
  }
  return text;
}

std::string AllocationsCsv(std::span<const AllocationNote> notes, std::span<const TracedJob> jobs) {
  std::string text = "time_s,job_id,gpus,nodes\n";
  const auto out = std::back_inserter(text);
  for (const AllocationNote& note : notes) {
    const auto job = static_cast<std::size_t>(note.job);
    ALLOT_CHECK_LT(job, jobs.size());
    GpuCount gpus = 0;
    std::string nodes;
    for (const NodeHolding& share : note.nodes) {
      gpus += share.gpus;
      nodes += fmt::format("{}{}:{}", nodes.empty() ? "" : " ", share.node, share.gpus);
    }
    fmt::format_to(out, "{},{},{},{}\n", note.time, CsvField(jobs[job].id), gpus, nodes);
  }
  return text;
}

std::string TimelineCsv(std::span<const TimelinePoint> timeline) {
  std::string text = "time_s,active,running,waiting,gpus_used,nodes\n";
  const auto out = std::back_inserter(text);
  for (const TimelinePoint& point : timeline) {
    fmt::format_to(out, "{},{},{},{},{},{}\n", point.time, point.active, point.running,
                   point.active - point.running, point.gpus_used, point.nodes);
  }
  return text;
}

void WriteRunDirectory(const std::filesystem::path& directory, const RunSummary& summary,
                       std::span<const JobRecord> records, std::span<const TracedJob> jobs,
                       std::span<const TimelinePoint> timeline,
                       std::span<const AllocationNote> notes) {
  WriteTextFile(directory / "jobs.csv", JobsCsv(records, jobs));
  WriteTextFile(directory / "timeline.csv", TimelineCsv(timeline));
  std::filesystem::remove(directory / "allocations.csv");  // an earlier run's
  if (!notes.empty()) WriteTextFile(directory / "allocations.csv", AllocationsCsv(notes, jobs));
  WriteTextFile(directory / "summary.json", JsonText(ToJson(summary)) + "\n");
}

std::string FolderName(std::string_view name) {
  std::string folder;
  for (const char c : name) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      std::string_view("._=,+-").find(c) != std::string_view::npos;
    folder += kept ? c : '-';
  }
  if (folder.empty()) return "-";
  if (folder.front() == '.') folder.front() = '-';
  return folder;
}

}  // namespace allot
