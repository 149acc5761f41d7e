#include "workload/write_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/output_text.h"
#include "core/strings.h"
#include "workload/outcome.h"

namespace allot {
namespace {

std::string Quote(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

struct Column {
  std::string name;
  std::function<std::string(const Job&)> text;  // "" = the default
  bool required = false;
};

std::vector<Column> Columns(const Workload& workload) {
  const auto unless = [](auto value, auto normal) {
    return value == normal ? std::string() : fmt::format("{}", value);
  };
  return {
      {"job_id", [](const Job& job) { return Quote(job.id); }, true},
      {"submit_s", [](const Job& job) { return fmt::format("{}", job.submit); }, true},
      {"gpus", [](const Job& job) { return fmt::format("{}", job.gpus); }, true},
      {"duration_s",
       [&](const Job& job) { return fmt::format("{}", workload.RecordedRunTime(job)); }, true},
      {"min_gpus", [=](const Job& job) { return unless(job.min_gpus, 0); }},
      {"max_gpus", [=](const Job& job) { return unless(job.max_gpus, 0); }},
      {"model", [&](const Job& job) { return Quote(workload.models[job.model]); }},
      {"work", [=](const Job& job) { return unless(job.work, 0.0); }},
      {"tenant", [&](const Job& job) { return Quote(workload.tenants[job.tenant]); }},
      {"user", [&](const Job& job) { return Quote(workload.users[job.user]); }},
      {"group", [&](const Job& job) { return Quote(workload.groups[job.group]); }},
      {"account", [&](const Job& job) { return Quote(workload.accounts[job.account]); }},
      {"qos", [&](const Job& job) { return Quote(workload.qos[job.qos]); }},
      {"priority", [=](const Job& job) { return unless(job.priority, 0.0); }},
      {"deadline_s", [=](const Job& job) { return unless(job.deadline, kNever); }},
      {"user_estimate_s", [=](const Job& job) { return unless(job.user_estimate, 0.0); }},
      {"recorded_wait_s", [=](const Job& job) { return unless(job.recorded_wait, -1.0); }},
      {"outcome",
       [](const Job& job) {
         return job.outcome == Outcome::kUnreported ? std::string() : OutcomeName(job.outcome);
       }},
      {"gpu_types", [&](const Job& job) { return Quote(workload.gpu_types[job.gpu_types]); }},
      {"duration_type",
       [&](const Job& job) { return Quote(workload.gpu_types[job.duration_type]); }},
      {"gpu_memory_gb", [=](const Job& job) { return unless(job.gpu_memory_gb, 0.0F); }},
      {"memory_gb", [=](const Job& job) { return unless(job.memory_gb, 0.0F); }},
      {"cpus", [=](const Job& job) { return unless(job.cpus, 0.0F); }},
      {"comm_share", [=](const Job& job) { return unless(job.communication.share, 0.0F); }},
      {"pattern",
       [](const Job& job) {
         return job.communication.pattern == CommunicationPattern::kRing
                    ? std::string()
                    : CommunicationPatternNames().at(
                          static_cast<std::size_t>(job.communication.pattern));
       }},
  };
}

}  // namespace

void WriteAllotCsv(const Workload& workload, std::ostream& out) {
  std::vector<Column> columns = Columns(workload);
  std::erase_if(columns, [&](const Column& column) {
    return !column.required &&
           std::all_of(workload.jobs.begin(), workload.jobs.end(),
                       [&](const Job& job) { return column.text(job).empty(); });
  });
  std::vector<std::string> fields;
  fields.reserve(columns.size());
  for (const Column& column : columns) fields.push_back(column.name);
  out << Join(fields, ",") << '\n';
  for (const Job& job : workload.jobs) {
    fields.clear();
    for (const Column& column : columns) fields.push_back(column.text(job));
    out << Join(fields, ",") << '\n';
  }
}

void WriteAllotCsv(const Workload& workload, const std::string& path) {
  WriteOutput(path, "the workload", [&](std::ostream& out) { WriteAllotCsv(workload, out); });
}

}  // namespace allot
