#pragma once
// What the columns of an unknown table probably mean, by their names and by the values of the first
// rows. A guess is shown before it is used (`allot trace inspect`).

#include <string>
#include <vector>

#include "table/column_map.h"
#include "table/table_file.h"

namespace allot {

struct GuessedColumn {
  std::string column;
  std::string meaning;
  std::string example;  // its first value
  std::string why;      // "its name", "its values: dates"
};

struct ColumnGuess {
  ColumnMap map;
  std::vector<GuessedColumn> columns;  // in the order of the table
  std::vector<std::string> others;     // columns that mean nothing here
  std::string fault{};      // why reading by the map stops; "": it does not, or not tried
  bool order_open = false;  // dates leave day and month open; the map says day first
};

// O(columns x meanings) on the first 1000 rows. Rows that are malformed are passed over.
ColumnGuess GuessColumns(const TableFile& table);

}  // namespace allot
