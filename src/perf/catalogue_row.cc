#include "perf/catalogue_row.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/strings.h"
#include "perf/units.h"

namespace allot {

CatalogueRow::CatalogueRow(const std::vector<std::string>& columns, std::string_view line,
                           std::string place)
    : columns_(&columns), place_(std::move(place)) {
  for (const std::string_view field : Split(line, ',')) fields_.emplace_back(Trim(field));
  if (fields_.size() != columns.size()) {
    throw DataError("a catalogue row has {} columns ({}), got {} ({})", columns.size(),
                    Join(columns, ","), fields_.size(), place_);
  }
}

bool CatalogueRow::Has(std::string_view column) const {
  return std::find(columns_->begin(), columns_->end(), column) != columns_->end();
}

const std::string& CatalogueRow::Text(std::string_view column) const {
  static const std::string absent;
  const auto found = std::find(columns_->begin(), columns_->end(), column);
  return found == columns_->end() ? absent
                                  : fields_[static_cast<std::size_t>(found - columns_->begin())];
}

std::int64_t CatalogueRow::Whole(std::string_view column, std::int64_t least,
                                 std::int64_t most) const {
  const auto number = ParseInteger(Text(column));
  if (!number || *number < least || *number > most) {
    throw DataError("'{}' must be a whole number from {} to {}, got '{}' ({})", column, least, most,
                    Text(column), place_);
  }
  return *number;
}

GpuCount CatalogueRow::Gpus(std::string_view column) const {
  return static_cast<GpuCount>(Whole(column, 1, kMaxGpusPerJob));
}

double CatalogueRow::Positive(std::string_view column) const {
  const auto number = ParseNumber(Text(column));
  if (!number || !(*number > 0)) {
    throw DataError("'{}' must be a number > 0, got '{}' ({})", column, Text(column), place_);
  }
  return *number;
}

double CatalogueRow::NotNegative(std::string_view column) const {
  const auto number = ParseNumber(Text(column));
  if (!number || !(*number >= 0)) {
    throw DataError("'{}' must be a number >= 0, got '{}' ({})", column, Text(column), place_);
  }
  return *number;
}

}  // namespace allot
