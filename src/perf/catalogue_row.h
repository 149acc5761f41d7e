#pragma once
// One row of a catalogue, by the names of its columns. Throughput models read their profiles from
// such rows.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace allot {

class CatalogueRow {
 public:
  // `columns`: of the catalogue, must outlive the row. DataError when there are more or fewer
  // fields than columns. `place` is for messages: "c.csv:3".
  CatalogueRow(const std::vector<std::string>& columns, std::string_view line, std::string place);

  const std::string& place() const { return place_; }
  bool Has(std::string_view column) const;
  // The field, "" where the catalogue has no such column.
  const std::string& Text(std::string_view column) const;
  // DataError naming the column and the text where it is none.
  std::int64_t Whole(std::string_view column, std::int64_t least, std::int64_t most) const;
  GpuCount Gpus(std::string_view column) const;       // a whole number from 1 to kMaxGpusPerJob
  double Positive(std::string_view column) const;     // a number > 0
  double NotNegative(std::string_view column) const;  // a number >= 0

 private:
  const std::vector<std::string>* columns_;
  std::vector<std::string> fields_;
  std::string place_;
};

}  // namespace allot
