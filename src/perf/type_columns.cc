#include "perf/type_columns.h"

#include <algorithm>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

const std::vector<std::string>& RowColumns() {
  static const std::vector<std::string> columns = {"profile", "gpu_type", "gpus", "nodes", "rate"};
  return columns;
}

bool Holds(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool TypeColumns::Has(const std::vector<std::string>& header) {
  const bool other = Holds(header, "gpu_type") || Holds(header, "rate") || Holds(header, "kind") ||
                     Holds(header, "partner") || Holds(header, "slowness_class");
  return !other && header.front() == "profile" && Holds(header, "gpus");
}

TypeColumns::TypeColumns(const std::vector<std::string>& header, const std::string& place)
    : header_(header) {
  for (const std::string& column : header_) {
    if (column != "profile" && column != "gpus" && column != "nodes") types_.push_back(column);
    const bool once = std::count(header_.begin(), header_.end(), column) == 1;
    if (column.empty() || !once) {
      throw DataError("columns of a catalogue have names, each once, got '{}' ({})", column, place);
    }
  }
  if (types_.empty()) {
    throw DataError("a catalogue by columns needs one for each GPU type, got '{}' ({})",
                    Join(header_, ","), place);
  }
}

std::vector<CatalogueRow> TypeColumns::RowsOf(std::string_view line,
                                              const std::string& place) const {
  const CatalogueRow cells(header_, line, place);
  std::vector<CatalogueRow> rows;
  for (const std::string& type : types_) {
    const std::string& rate = cells.Text(type);
    if (rate.empty()) continue;
    rows.emplace_back(RowColumns(),
                      fmt::format("{},{},{},{},{}", cells.Text("profile"), type, cells.Text("gpus"),
                                  cells.Text("nodes"), rate),
                      fmt::format("{}, column '{}'", place, type));
  }
  if (rows.empty()) {
    throw DataError("a row needs the rate of at least 1 GPU type ({}), got none ({})",
                    Join(types_, ", "), place);
  }
  return rows;
}

void TypeColumns::Sort(std::vector<CatalogueRow>* rows) const {
  const auto column = [this](const CatalogueRow& row) {
    return std::find(types_.begin(), types_.end(), row.Text("gpu_type"));
  };
  std::stable_sort(rows->begin(), rows->end(), [&](const CatalogueRow& a, const CatalogueRow& b) {
    return column(a) < column(b);
  });
}

}  // namespace allot
