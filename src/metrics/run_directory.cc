#include "metrics/run_directory.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <iterator>

#include "core/check.h"
#include "core/file.h"
#include "core/json_text.h"
#include "metrics/csv.h"
#include "metrics/json_field.h"

namespace allot {

std::string JobsCsv(std::span<const JobRecord> records, std::span<const std::string> job_ids) {
  std::string text =
      "job_id,submit_s,first_start_s,finish_s,jct_s,gpu_seconds,preemptions,restarts\n";
  const auto out = std::back_inserter(text);
  // To the microsecond: duration x rate / rate is the duration but for its last bit.
  const auto micro = [](double value) { return std::round(value * 1e6) / 1e6; };
  const auto time = [micro](Seconds value) {
    return value == kNever ? std::string() : fmt::format("{}", micro(value));
  };
  for (const JobRecord& record : records) {
    const auto job = static_cast<std::size_t>(record.job);
    ALLOT_CHECK_LT(job, job_ids.size());
    fmt::format_to(out, "{},{},{},{},{},{},{},{}\n", CsvField(job_ids[job]), record.submit,
                   time(record.first_start), time(record.finish),
                   time(record.finish - record.submit), micro(record.gpu_seconds),
                   record.preemptions, record.restarts);
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
                       std::span<const JobRecord> records, std::span<const std::string> job_ids,
                       std::span<const TimelinePoint> timeline) {
  WriteTextFile(directory / "jobs.csv", JobsCsv(records, job_ids));
  WriteTextFile(directory / "timeline.csv", TimelineCsv(timeline));
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
