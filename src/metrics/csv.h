#pragma once
// The little CSV that result files need (RFC 4180): a field writer and a reader of whole small files.

#include <string>
#include <string_view>
#include <vector>

namespace allot {

// `text` as one field: quoted when it holds a comma, a quote or a line break.
std::string CsvField(std::string_view text);

class CsvFile {
 public:
  // DataError with path and line for an absent header, an unclosed quote or a row of another width.
  static CsvFile Read(const std::string& path);
  static CsvFile Parse(std::string_view text, std::string path);

  std::size_t rows() const { return rows_.size(); }
  bool Has(std::string_view column) const;
  const std::vector<std::string>& header() const { return header_; }

  // The column as numbers, empty fields as kUnknown. DataError when the column is absent or a field is
  // not a number.
  std::vector<double> Numbers(std::string_view column) const;

 private:
  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;  // where each row begins in the file
};

}  // namespace allot
