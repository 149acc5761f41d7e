// Gavel's .trace files: tab-separated, without a header, a job's work in steps. Two generations:
//   10 fields: job_type, command, working_directory, num_steps_arg, needs_data_dir, total_steps,
//              scale_factor (GPUs), priority_weight, SLO (times the run time; negative: none),
//              arrival_time
//   7 fields:  job_type, command, num_steps_arg, needs_data_dir, total_steps, arrival_time,
//              scale_factor; of Philly's virtual clusters
// Run times come from the rates that turned them into steps (traces/gavel_rates.csv).

#include <algorithm>

#include "core/strings.h"
#include "table/row_error.h"
#include "workload/formats/csv_jobs.h"
#include "workload/formats/gavel_trace_types.h"

namespace allot {
namespace {

const std::vector<std::string> kSevenFields = {"job_type",       "command",     "num_steps_arg",
                                               "needs_data_dir", "total_steps", "arrival_time",
                                               "scale_factor"};

const GavelTraceType& ReadJobType(const CsvReader& row) {
  const auto found = GavelTraceTypes().find(row.Text("job_type"));
  if (found == GavelTraceTypes().end()) {
    throw RowError("'job_type' must be one that Gavel measured, like ResNet-18 (batch size 16)",
                   Quoted(row.Text("job_type")), row.place());
  }
  return found->second;
}

std::optional<Job> ReadGavelRow(const CsvReader& row, bool ten, TraceBuilder& builder) {
  const GavelTraceType& type = ReadJobType(row);
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
    job.priority = ReadGavelWeight(row);
    ReadGavelSlo(row, "SLO", &job);
  }
  Workload& names = builder.workload();
  job.model = names.models.Intern(type.profile);
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
  CsvReader csv = CsvReader::WithoutHeader(text, path, ten ? kGavelFields : kSevenFields, '\t');
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
  const auto fields = Split(Trim(head.substr(0, head.find('\n'))), '\t');
  if (fields.size() != kGavelFields.size() && fields.size() != kSevenFields.size()) return 0;
  // The number of steps, where another table has the name of a column.
  return ParseNumber(fields[fields.size() == kSevenFields.size() ? 4 : 5]) ? 100 : 0;
}

ALLOT_REGISTER(TraceFormat, ([] {
                 TraceFormat format{"gavel", "Gavel's .trace files, with 7 or 10 fields",
                                    DetectGavel, ReadGavel};
                 format.objectives = true;
                 return format;
               }()));

}  // namespace
}  // namespace allot
