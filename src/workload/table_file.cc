#include "workload/table_file.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "workload/row_error.h"

namespace allot {

TableFile::TableFile(std::string_view bytes, std::string path)
    : path_(std::move(path)), decoded_(DecodeText(bytes, path_)) {
  const auto dialect = FindDialect(decoded_.text);
  if (!dialect) {
    throw DataError(
        "a table must have columns that end at ',', ';', '|' or a tab, got a file that begins {} "
        "({}:1)",
        Quoted(std::string_view(decoded_.text).substr(0, decoded_.text.find('\n'))), path_);
  }
  dialect_ = *dialect;
  header_ = Rows().header();
}

bool TableFile::LooksLike(std::string_view bytes) {
  const bool json = bytes.starts_with('{') || bytes.starts_with('[');
  if (json || bytes.find('\0') != std::string_view::npos) {
    return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
  }
  return FindDialect(bytes).has_value();
}

CsvReader TableFile::Rows() const { return CsvReader::OfTable(decoded_.text, path_, dialect_); }

std::string TableFile::place_of_header() const {
  return fmt::format("{}:{}", path_, dialect_.lines_before + 1);
}

}  // namespace allot
