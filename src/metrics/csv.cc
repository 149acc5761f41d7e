#include "metrics/csv.h"

#include <algorithm>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "core/types.h"

namespace allot {
namespace {

// One record from `text` at `*at`, which may span lines when quoted; `*line` counts them.
std::vector<std::string> NextRecord(std::string_view text, std::size_t* at, int* line,
                                    const std::string& path) {
  std::vector<std::string> fields(1);
  const int first_line = *line;
  bool quoted = false;
  while (*at < text.size()) {
    const char c = text[(*at)++];
    if (c == '\n') ++*line;
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (*at < text.size() && text[*at] == '"') {
        fields.back() += '"';
        ++*at;
      } else {
        quoted = false;
      }
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      return fields;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  if (quoted) throw DataError("{}:{}: a quoted field must be closed, got end of file", path, first_line);
  return fields;
}

}  // namespace

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

CsvFile CsvFile::Read(const std::string& path) { return Parse(ReadTextFile(path), path); }

CsvFile CsvFile::Parse(std::string_view text, std::string path) {
  CsvFile file;
  file.path_ = std::move(path);
  if (text.empty()) throw DataError("{}:1: a header line is required, got an empty file", file.path_);
  std::size_t at = 0;
  int line = 1;
  file.header_ = NextRecord(text, &at, &line, file.path_);
  while (at < text.size()) {
    const int row_line = line;
    std::vector<std::string> row = NextRecord(text, &at, &line, file.path_);
    if (row.size() == 1 && row.front().empty()) continue;  // blank line
    if (row.size() != file.header_.size()) {
      throw DataError("{}:{}: expected {} fields as in the header, got {}", file.path_, row_line,
                      file.header_.size(), row.size());
    }
    file.rows_.push_back(std::move(row));
    file.lines_.push_back(row_line);
  }
  return file;
}

bool CsvFile::Has(std::string_view column) const {
  return std::find(header_.begin(), header_.end(), column) != header_.end();
}

std::vector<double> CsvFile::Numbers(std::string_view column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  if (found == header_.end()) {
    throw DataError("{}:1: column '{}' is required, got {}", path_, column, Join(header_, ","));
  }
  const auto index = static_cast<std::size_t>(found - header_.begin());
  std::vector<double> numbers;
  numbers.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::string& field = rows_[i][index];
    const auto number = ParseNumber(field);
    if (!number && !field.empty()) {
      throw DataError("{}:{}: '{}' must be a number, got '{}'", path_, lines_[i], column, field);
    }
    numbers.push_back(number.value_or(kUnknown));
  }
  return numbers;
}

}  // namespace allot
