#pragma once
// How a table separates its fields, found from its first lines: programs and countries differ.

#include <optional>
#include <string_view>

namespace allot {

struct TableDialect {
  char separator = ',';  // or ';', tab, '|'
  int lines_before = 0;  // that are not part of the table: Excel's "sep=;"
};

// The separator that most of the first lines hold equally often outside of quotes, at least once;
// of several, the one that makes more columns. nullopt where none does: it is no table.
std::optional<TableDialect> FindDialect(std::string_view text);

// A number of such a table: where fields do not end at commas, 3,5 is three and a half, and 1.234,5
// has its thousands marked. nullopt as ParseNumber.
std::optional<double> ParseTableNumber(std::string_view text, char separator);

// What people and programs write where they know nothing: nothing, NaN, None, null, N/A, -, ...
bool IsMissing(std::string_view text);

}  // namespace allot
