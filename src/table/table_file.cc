#include "table/table_file.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "table/row_error.h"

namespace allot {

TableFile::TableFile(DecodedText decoded, std::string path)
    : path_(std::move(path)), decoded_(std::move(decoded)) {
  const auto dialect = FindDialect(decoded_.text);
  if (!dialect) {
    throw DataError(
        "a table must have columns that end at ',', ';', '|' or a tab, got a file that begins {} "
        "({}:1)",
        Quoted(std::string_view(decoded_.text).substr(0, decoded_.text.find('\n'))), path_);
  }
  dialect_ = *dialect;
  CsvReader rows = Rows();
  header_ = rows.header();
  DecimalSurvey survey(dialect_.separator);
  bool any = false;
  for (; rows.Next(); any = true) {
    if (any && dialect_.separator == ',') break;  // that its numbers have points is sure
    for (std::size_t i = 0; i < rows.fields(); ++i) survey.Look(rows.At(i));
  }
  if (!any) {
    throw DataError("a table must have rows below its line of column names, got none ({})",
                    place_of_header());
  }
  decimal_ = survey.mark();
}

bool TableFile::LooksLike(std::string_view text) {
  if (text.starts_with('{') || text.starts_with('[')) return false;
  return text.find('\0') == std::string_view::npos && FindDialect(text).has_value();
}

CsvReader TableFile::Rows() const { return CsvReader::OfTable(decoded_.text, path_, dialect_); }

std::string TableFile::place_of_header() const {
  return fmt::format("{}:{}", path_, dialect_.lines_before + 1);
}

}  // namespace allot
