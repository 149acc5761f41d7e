#include "workload/formats/server_split.h"

#include <fmt/format.h>

#include <optional>

#include "core/strings.h"
#include "table/row_error.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

std::optional<long long> Sum(std::string_view text) {
  long long sum = 0;
  for (const std::string_view part : Split(text, '+')) {
    const auto gpus = ParseInteger(part);
    if (!gpus || *gpus < 1 || *gpus > kMostGpus) return std::nullopt;
    sum += *gpus;
  }
  return sum;
}

}  // namespace

void CheckServerSplit(const CsvReader& row, std::string_view column, std::string_view total,
                      GpuCount gpus) {
  if (Sum(row.Text(column)) == gpus) return;
  throw RowError(fmt::format("'{}' must add up to '{}'", column, total),
                 fmt::format("{} with {} GPUs", Quoted(row.Text(column)), gpus), row.place());
}

}  // namespace allot
