#pragma once
// Rows taken out of a column of a table that is kept by columns.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace allot {

// Without these rows (ascending, at least one); the others keep their order. O(rows of the column).
template <typename T>
void EraseRowsOf(const std::vector<std::int32_t>& rows, std::vector<T>* column) {
  auto to = column->begin() + rows.front();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto until = i + 1 < rows.size() ? column->begin() + rows[i + 1] : column->end();
    to = std::move(column->begin() + rows[i] + 1, until, to);
  }
  column->erase(to, column->end());
}

// Out of each of the columns.
template <typename... T>
void EraseRows(const std::vector<std::int32_t>& rows, std::vector<T>&... columns) {
  (EraseRowsOf(rows, &columns), ...);
}

}  // namespace allot
