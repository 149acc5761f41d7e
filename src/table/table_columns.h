#pragma once
// The columns of one table that a map names, and how they are written: found from all rows before
// the first job is made. Used by table_format.cc and column_guess.cc.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/column_map.h"
#include "table/table_file.h"

namespace allot {

class MappedColumns {
 public:
  // Goes through the whole table once. UsageError for a column that it does not have, DataError for
  // submissions that may be Excel's dates or seconds.
  MappedColumns(const TableFile& table, const ColumnMap& map);

  bool Has(std::string_view meaning) const { return Find(meaning) != nullptr; }
  // "" also where the field says that it is unknown (IsMissing) or the map names no such column.
  std::string_view Text(const CsvReader& row, std::string_view meaning) const;
  // nullopt where nothing is said; RowError for what is none, naming the column and what it may be.
  std::optional<Seconds> Time(const CsvReader& row, std::string_view meaning) const;
  std::optional<Seconds> Length(const CsvReader& row, std::string_view meaning) const;
  std::optional<double> Number(const CsvReader& row, std::string_view meaning) const;

  bool AlikeTimes() const;  // `submit` and `start` count from the same
  bool calendar() const;    // whether `submit` is a calendar time
  // For people: "submit: dates, day first".
  std::string StyleOf(std::string_view meaning) const;

 private:
  struct Column {
    std::string meaning;
    std::string name;
    std::size_t position = 0;
    std::vector<std::size_t> factors{};  // of a number of GPUs: further columns that multiply it
    TimeStyle style{};
    double unit = 1;          // of lengths
    std::string no_unit{};    // of lengths: what the name says in its place
    bool no_numbers = false;  // of times: most are neither numbers nor dates
  };
  std::optional<double> NumberAt(const CsvReader& row, const Column& column,
                                 std::size_t position) const;
  // What to add to a rule where only the decimal mark is not known.
  std::string OpenNumber(std::string_view text) const;
  const Column* Find(std::string_view meaning) const;

  DecimalMark decimal_;
  std::vector<Column> columns_;
};

}  // namespace allot
