#pragma once
// A table as text with what is known of its form: encoding, separator, names of the columns.

#include <string>
#include <string_view>
#include <vector>

#include "table/csv.h"
#include "table/text_encoding.h"

namespace allot {

class TableFile {
 public:
  // DataError where the text is no table or has no rows, naming `path`.
  TableFile(DecodedText decoded, std::string path);
  static bool LooksLike(std::string_view text);

  CsvReader Rows() const;  // from the first one; the file must outlive it
  const std::vector<std::string>& header() const { return header_; }
  char separator() const { return dialect_.separator; }
  DecimalMark decimal() const { return decimal_; }  // of its numbers
  const std::string& encoding() const { return decoded_.encoding; }
  const std::string& path() const { return path_; }
  std::string place_of_header() const;

 private:
  std::string path_;
  DecodedText decoded_;
  TableDialect dialect_;
  DecimalMark decimal_ = DecimalMark::kPoint;
  std::vector<std::string> header_;
};

}  // namespace allot
