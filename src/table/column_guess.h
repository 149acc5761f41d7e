#pragma once
// What the columns of an unknown table probably mean, by their names and by the values of the first
// rows. A guess is shown before it is used (`allot trace inspect`).

#include <nlohmann/json.hpp>
#include <optional>
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

// For people, in about 100 columns: the table of what means what, what is lacking and how to say
// it, and the whole commands to go on with. `path` is the trace as it was given, `what` what it is.
std::string FormatGuess(const ColumnGuess& guess, const TableFile& table, const std::string& path,
                        std::string_view what = "in no format that allot knows");
nlohmann::ordered_json GuessJson(const ColumnGuess& guess, const TableFile& table,
                                 const std::string& path);

// What to tell of a trace file that is a table in no known format; nullopt of any other.
struct SuggestedColumns {
  bool complete = false;  // enough for jobs
  std::string text;       // as FormatGuess
  nlohmann::ordered_json json;
};
std::optional<SuggestedColumns> SuggestColumns(const std::string& path);

}  // namespace allot
