#pragma once
// Catalogues with one column for each GPU type: "profile,gpus,v100,p100,k80", and perhaps nodes. A
// cell is the rate on that type, an empty one was not measured. Adding a type is adding a column.

#include <string>
#include <string_view>
#include <vector>

#include "perf/catalogue_row.h"

namespace allot {

class TypeColumns {
 public:
  // Whether a header is of this form: it has `gpus`, and names no column of the other form.
  static bool Has(const std::vector<std::string>& header);

  // DataError when no column is left for a type.
  TypeColumns(const std::vector<std::string>& header, const std::string& place);

  // One row, of the form profile,gpu_type,gpus,nodes,rate, for each measured cell of a line.
  // DataError for a line with another number of cells than the header, or without a rate. The rows
  // refer to this object.
  std::vector<CatalogueRow> RowsOf(std::string_view line, const std::string& place) const;

  // Rows of a profile: those of a type together, in the order of the columns.
  void Sort(std::vector<CatalogueRow>* rows) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::string> types_;
};

}  // namespace allot
