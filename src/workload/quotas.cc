#include "workload/quotas.h"

#include <any>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "table/byte_order_mark.h"
#include "table/csv.h"
#include "workload/calendar.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

constexpr long long kGpusOfANode = 8;

using Quotas = std::map<std::string, GpuCount>;

Quotas OnePerRow(CsvReader csv, const char* tenant, const char* amount, long long unit) {
  Quotas quotas;
  while (csv.Next()) {
    csv.CheckRow();
    const std::string name(csv.Text(tenant));
    const auto gpus = static_cast<GpuCount>(unit * csv.Integer(amount, 0, kMostGpus / unit));
    if (name.empty()) throw DataError("'{}' must not be empty ({})", tenant, csv.place());
    const auto [known, added] = quotas.emplace(name, gpus);
    if (!added) {
      throw DataError("a tenant has one quota: '{}' has {} and {} GPUs ({})", name, known->second,
                      gpus, csv.place());
    }
  }
  return quotas;
}

Quotas LastDay(std::string_view text, const std::string& path,
               const std::vector<std::string>& columns) {
  Quotas quotas;
  CsvReader csv(text, path, columns);
  std::int64_t last = -1;
  while (csv.Next()) {
    csv.CheckRow();
    const std::string_view date = csv.Text("date");
    const std::int64_t day = ParseCalendar(date).value_or(-1);
    if (day <= last) {
      throw DataError("dates must be like 2020-04-01 and ascend, got '{}' ({})", date, csv.place());
    }
    last = day;
    for (const std::string& column : columns) {
      if (column == "date" || column == "total") continue;
      quotas[column] = static_cast<GpuCount>(csv.Integer(column, 0, kMostGpus));
    }
  }
  return quotas;
}

}  // namespace

Quotas QuotasFromCsv(std::string_view text, const std::string& path) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string_view header = Trim(text.substr(0, text.find('\n')));
  Quotas quotas;
  if (header == "tenant,gpus") {
    quotas = OnePerRow(CsvReader(text, path, {"tenant", "gpus"}), "tenant", "gpus", 1);
  } else if (header == "vc,node num") {
    quotas = OnePerRow(CsvReader(text, path, {"vc", "node num"}), "vc", "node num", kGpusOfANode);
  } else if (header.starts_with("date,")) {
    std::vector<std::string> columns;
    for (const std::string_view column : Split(header, ',')) columns.emplace_back(column);
    quotas = LastDay(text, path, columns);
  } else {
    throw DataError(
        "quotas begin with the header 'tenant,gpus', 'vc,node num' or 'date,VC,...', got '{}' "
        "({}:1)",
        header, path);
  }
  if (quotas.empty()) throw DataError("quotas need at least one tenant, got none ({})", path);
  return quotas;
}

Quotas ReadQuotas(const std::string& path) { return QuotasFromCsv(ReadTextFile(path), path); }

Quotas QuotasOf(const Params& params, std::string_view name) {
  if (params.Text(name).empty()) return {};
  return std::any_cast<Quotas>(params.Load("quotas", name));
}

}  // namespace allot
