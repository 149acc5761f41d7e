#include "workload/formats/gavel_trace_types.h"

#include <fmt/format.h>

#include "table/csv.h"
#include "table/row_error.h"
#include "workload/embedded_files.h"

namespace allot {

const std::map<std::string, GavelTraceType, std::less<>>& GavelTraceTypes() {
  static const auto types = [] {
    std::map<std::string, GavelTraceType, std::less<>> result;
    CsvReader csv(EmbeddedGavelRates(), "gavel_rates.csv",
                  {"job_type", "profile", "philly", "gpus_1", "gpus_2", "gpus_4", "gpus_8"});
    while (csv.Next()) {
      GavelTraceType& type = result[std::string(csv.Text("job_type"))];
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

double ReadGavelWeight(const CsvReader& row) {
  const double weight = row.Number("priority_weight");
  if (weight > 0) return weight;
  throw RowError("'priority_weight' must be > 0", row.Text("priority_weight"), row.place());
}

void ReadGavelSlo(const CsvReader& row, std::string_view column, Job* job) {
  if (!row.Has(column)) return;
  const double times = row.Number(column);
  if (times == 0) {
    throw RowError(fmt::format("'{}' must be > 0, or negative for none", column), row.Text(column),
                   row.place());
  }
  if (times > 0) job->deadline = job->submit + times * job->duration;
}

}  // namespace allot
