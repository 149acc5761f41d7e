#pragma once
// Reads one CSV table after RFC 4180: fields in double quotes may hold commas, quotes ("") and line
// breaks; lines end in LF or CRLF; empty lines are skipped; a UTF-8 byte order mark is skipped.
// The trace formats walk it row by row and fetch fields by column name, checked, with file:line
// errors.
//
//   CsvReader csv(text, path, {"job_id", "gpus"}, {"user"});
//   while (csv.Next()) { csv.CheckRow(); Use(csv.Text("job_id"), csv.Integer("gpus", 1, 8)); }

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "table/table_dialect.h"

namespace allot {

class CsvReader {
 public:
  // Reads the header. DataError for text that is not UTF-8, an unknown, repeated or missing column.
  // `text` must outlive the reader.
  CsvReader(std::string_view text, std::string path, const std::vector<std::string>& required,
            const std::vector<std::string>& optional = {});

  // A table without a header line: `columns` name the fields, which end at `separator` and know no
  // quotes. DataError for text that is not UTF-8.
  static CsvReader WithoutHeader(std::string_view text, std::string path,
                                 std::vector<std::string> columns, char separator);

  // Any table: the first line after those before it names the columns, whatever the names. A quote
  // inside a field that begins otherwise is a letter like others, and a CR alone ends a
  // line. DataError for text that is not UTF-8 or has no such line.
  static CsvReader OfTable(std::string_view text, std::string path, const TableDialect& dialect);

  // Rows that come from elsewhere, such as records of JSON: SetRow gives each of them.
  static CsvReader OfFields(std::string path, std::vector<std::string> columns);
  void SetRow(std::vector<std::string> fields, int line);  // one for each column

  // A copy would point into the row of the original.
  CsvReader(const CsvReader&) = delete;
  CsvReader& operator=(const CsvReader&) = delete;
  CsvReader(CsvReader&&) = default;
  CsvReader& operator=(CsvReader&&) = default;

  // Moves to the next row; false at the end. DataError when a quote is never closed.
  bool Next();
  // RowError when the row has another number of fields than the header, misplaced quotes or a NUL.
  // To be called before fields are fetched.
  void CheckRow() const;

  // Of a row with too many fields: the surplus is the rest of `column`, whose text holds
  // separators.
  void JoinSurplus(std::size_t column);

  std::size_t fields() const { return fields_.size(); }  // of the row, before CheckRow too
  int line() const { return row_line_; }                 // where the row begins, from 1
  std::string place() const;                             // "path:line"

  const std::vector<std::string>& header() const { return header_; }
  std::string_view At(std::size_t column) const;  // field by position, without spaces around it

  bool Has(std::string_view column) const;  // the column exists and its field is not empty
  // "" when an optional column is absent; without spaces around it where fields know no quotes.
  std::string_view Text(std::string_view column) const;
  double Number(std::string_view column) const;  // finite; RowError otherwise
  long long Integer(std::string_view column, long long low, long long high) const;  // inclusive
  long long Whole(std::string_view column, long long low, long long high) const;    // "2" or "2.0"
  double Calendar(std::string_view column) const;  // "YYYY-MM-DD HH:MM:SS" -> seconds since 1970

 private:
  CsvReader(std::string_view text, std::string path);  // checks the text, reads nothing
  void ReadRow();
  std::string CountOfFields() const;
  bool ReadField();  // whether another one follows in the row
  void ReadQuoted(std::string* field);
  void CheckHeader(const std::vector<std::string>& required,
                   const std::vector<std::string>& optional);
  const std::string_view* Field(std::string_view column) const;

  std::string_view text_;
  std::string path_;
  char separator_ = ',';
  bool quotes_ = true;
  bool any_table_ = false;
  std::size_t at_ = 0;
  int line_ = 1;
  int row_line_ = 1;
  bool misplaced_quote_ = false;
  bool holds_nul_ = false;
  std::vector<std::string> header_;
  std::vector<std::string_view> fields_;  // pieces of the text, or made_
  std::deque<std::string> made_;          // fields that do not stand in the text so
};

// How well the first line of a file fits a format, in percent: columns of `required` that it names,
// of all required ones and those that the format does not know.
int HeaderMatch(std::string_view head, const std::vector<std::string>& required,
                const std::vector<std::string>& optional = {});

}  // namespace allot
