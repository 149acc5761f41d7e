// Gavel's .trace files: tab-separated, without a header, a job's work in steps. Two generations:
//   10 fields: job_type, command, working_directory, num_steps_arg, needs_data_dir, total_steps,
//              scale_factor (GPUs), priority_weight, SLO (times the run time; negative: none),
//              arrival_time
//   7 fields:  job_type, command, num_steps_arg, needs_data_dir, total_steps, arrival_time,
//              scale_factor; of Philly's virtual clusters
// Run times come from the rates that turned them into steps (traces/gavel_rates.csv).
//
// As gavel-steps, jobs do steps at the rates of the user's own tables (--catalogue with Gavel's
// files, perf/gavel_tables.h), whose profiles are job types: 10 fields, or CSV with the columns
// job_id, arrival_time_s, job_type, scale_factor, total_steps and perhaps priority_weight, slo and
// v100_duration_s, the run time on a v100 where it is known.

#include <algorithm>
#include <map>

#include "core/strings.h"
#include "workload/csv_jobs.h"
#include "workload/embedded_files.h"
#include "workload/row_error.h"

namespace allot {
namespace {

const std::vector<std::string> kTenFields = {
    "job_type",    "command",      "working_directory", "num_steps_arg", "needs_data_dir",
    "total_steps", "scale_factor", "priority_weight",   "SLO",           "arrival_time"};
const std::vector<std::string> kSevenFields = {"job_type",       "command",     "num_steps_arg",
                                               "needs_data_dir", "total_steps", "arrival_time",
                                               "scale_factor"};

struct JobType {
  std::string profile;              // in the catalogue, or ""
  double philly_rate = 0;           // steps/s behind the traces with 7 fields, at any GPU count
  std::map<GpuCount, double> rate;  // ... with 10 fields, by GPUs
};

const std::map<std::string, JobType, std::less<>>& JobTypes() {
  static const auto types = [] {
    std::map<std::string, JobType, std::less<>> result;
    CsvReader csv(EmbeddedGavelRates(), "gavel_rates.csv",
                  {"job_type", "profile", "philly", "gpus_1", "gpus_2", "gpus_4", "gpus_8"});
    while (csv.Next()) {
      JobType& type = result[std::string(csv.Text("job_type"))];
      type.profile = csv.Text("profile");
      type.philly_rate = csv.Number("philly");
      for (const GpuCount gpus : {1, 2, 4, 8}) {
        const std::string column = fmt::format("gpus_{}", gpus);
        if (csv.Has(column)) type.rate[gpus] = csv.Number(column);
      }
    }
    return result;
  }();
  return types;
}

const JobType& ReadJobType(const CsvReader& row) {
  const auto found = JobTypes().find(row.Text("job_type"));
  if (found == JobTypes().end()) {
    throw RowError("'job_type' must be one that Gavel measured, like ResNet-18 (batch size 16)",
                   Quoted(row.Text("job_type")), row.place());
  }
  return found->second;
}

std::optional<Job> ReadGavelRow(const CsvReader& row, bool ten, TraceBuilder& builder) {
  const JobType& type = ReadJobType(row);
  Job job;
  job.id = builder.RowId();
  job.submit = row.Number("arrival_time");
  job.gpus = ReadGpus(row, "scale_factor");
  const double steps = row.Number("total_steps");
  if (steps == 0) return builder.Drop(kNoRunTime);
  if (!ten) {
    job.duration = steps / type.philly_rate;
  } else {
    const auto rate = type.rate.find(job.gpus);
    if (rate == type.rate.end()) return builder.Drop("no rate was measured at its GPU count");
    job.duration = steps / rate->second;
    job.priority = row.Number("priority_weight");
    const double slo = row.Number("SLO");
    if (slo >= 0) job.deadline = job.submit + slo * job.duration;
  }
  Workload& names = builder.workload();
  job.model = names.models.Intern(type.profile);
  job.group = names.groups.Intern(row.Text("job_type"));
  return job;
}

// Seconds on v100s; where nobody knows them, a second a step.
Seconds DurationOfSteps(const CsvReader& row, double steps, GpuCount gpus, TraceBuilder& builder) {
  if (row.Has("v100_duration_s") && row.Number("v100_duration_s") > 0) {
    return row.Number("v100_duration_s");
  }
  const auto type = JobTypes().find(row.Text("job_type"));
  if (type != JobTypes().end()) {
    const auto rate = type->second.rate.find(gpus);
    if (rate != type->second.rate.end()) return steps / rate->second;
  }
  builder.Adjust("its run time is not known: a second a step");
  return steps;
}

std::optional<Job> ReadStepsRow(const CsvReader& row, bool csv, TraceBuilder& builder) {
  Job job;
  job.id = csv ? std::string(row.Text("job_id")) : builder.RowId();
  job.submit = row.Number(csv ? "arrival_time_s" : "arrival_time");
  job.gpus = ReadGpus(row, "scale_factor");
  job.work = row.Number("total_steps");
  if (job.work == 0) return builder.Drop(kNoRunTime);
  if (job.work < 0)
    throw RowError("'total_steps' must be >= 0", row.Text("total_steps"), row.place());
  job.duration = DurationOfSteps(row, job.work, job.gpus, builder);
  if (row.Has("priority_weight")) job.priority = row.Number("priority_weight");
  const char* const slo = csv ? "slo" : "SLO";
  if (row.Has(slo) && row.Number(slo) >= 0)
    job.deadline = job.submit + row.Number(slo) * job.duration;
  Workload& names = builder.workload();
  job.model = names.models.Intern(row.Text("job_type"));
  job.group = names.groups.Intern(row.Text("job_type"));
  return job;
}

std::size_t FieldsOfFirstLine(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t'));
}

Workload ReadGavel(std::string_view text, const std::string& path, const ReadOptions& options,
                   ReadReport* report) {
  const bool ten = FieldsOfFirstLine(text) != kSevenFields.size();
  CsvReader csv = CsvReader::WithoutHeader(text, path, ten ? kTenFields : kSevenFields, '\t');
  TraceBuilder builder(path, options, report);
  while (csv.Next()) {
    builder.Record(csv.line(), [&] {
      csv.CheckRow();
      return ReadGavelRow(csv, ten, builder);
    });
  }
  return builder.Finish();
}

int DetectGavel(std::string_view head) {
  const std::size_t fields = FieldsOfFirstLine(head);
  return fields == kTenFields.size() || fields == kSevenFields.size() ? 100 : 0;
}

bool HasTabs(std::string_view head) { return FieldsOfFirstLine(head) > 1; }

Workload ReadGavelSteps(std::string_view text, const std::string& path, const ReadOptions& options,
                        ReadReport* report) {
  const bool csv = !HasTabs(text);
  CsvReader rows =
      csv ? CsvReader(text, path,
                      {"job_id", "arrival_time_s", "job_type", "scale_factor", "total_steps"},
                      {"priority_weight", "slo", "v100_duration_s"})
          : CsvReader::WithoutHeader(text, path, kTenFields, '\t');
  TraceBuilder builder(path, options, report);
  while (rows.Next()) {
    builder.Record(rows.line(), [&] {
      rows.CheckRow();
      return ReadStepsRow(rows, csv, builder);
    });
  }
  return builder.Finish();
}

int DetectGavelSteps(std::string_view head) {
  const auto columns = Split(Trim(head.substr(0, head.find('\n'))), ',');
  const auto has = [&columns](std::string_view name) {
    return std::find(columns.begin(), columns.end(), name) != columns.end();
  };
  return has("job_type") && has("total_steps") && has("arrival_time_s") ? 100 : 0;
}

ALLOT_REGISTER(TraceFormat, (TraceFormat{"gavel-steps",
                                         "Gavel's jobs in steps, for its own throughput tables",
                                         DetectGavelSteps,
                                         ReadGavelSteps,
                                         {},
                                         "gavel"}));

ALLOT_REGISTER(TraceFormat, (TraceFormat{"gavel", "Gavel's .trace files, with 7 or 10 fields",
                                         DetectGavel, ReadGavel}));

}  // namespace
}  // namespace allot
