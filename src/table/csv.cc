#include "table/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "core/calendar.h"
#include "core/error.h"
#include "core/strings.h"
#include "table/byte_order_mark.h"
#include "table/row_error.h"
#include "table/text_encoding.h"

namespace allot {
namespace {

bool Contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

CsvReader::CsvReader(std::string_view text, std::string path)
    : text_(text), path_(std::move(path)) {
  if (const auto bad = FindBadUtf8(text_)) {
    throw DataError(
        "a CSV file must be UTF-8 text, got byte 0x{:02x} ({}:{})",
        static_cast<unsigned char>(text_[*bad]), path_,
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(*bad), '\n'));
  }
  if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

CsvReader CsvReader::WithoutHeader(std::string_view text, std::string path,
                                   std::vector<std::string> columns, char separator) {
  CsvReader reader(text, std::move(path));
  reader.header_ = std::move(columns);
  reader.separator_ = separator;
  reader.quotes_ = false;
  return reader;
}

CsvReader CsvReader::OfFields(std::string path, std::vector<std::string> columns) {
  CsvReader reader({}, std::move(path));
  reader.header_ = std::move(columns);
  return reader;
}

void CsvReader::SetRow(std::vector<std::string> fields, int line) {
  made_.assign(std::move_iterator(fields.begin()), std::move_iterator(fields.end()));
  fields_.assign(made_.begin(), made_.end());
  row_line_ = line;
  holds_nul_ = std::any_of(fields_.begin(), fields_.end(), [](std::string_view field) {
    return field.find('\0') != std::string_view::npos;
  });
}

CsvReader CsvReader::OfTable(std::string_view text, std::string path, const TableDialect& dialect) {
  CsvReader reader(text, std::move(path));
  reader.separator_ = dialect.separator;
  reader.any_table_ = true;
  for (int i = 0; i <= dialect.lines_before; ++i) {
    if (!reader.Next()) {
      throw DataError("a table must begin with a line of column names, got no line ({}:1)",
                      reader.path_);
    }
  }
  for (const std::string_view name : reader.fields_) reader.header_.emplace_back(Trim(name));
  return reader;
}

CsvReader::CsvReader(std::string_view text, std::string path,
                     const std::vector<std::string>& required,
                     const std::vector<std::string>& optional)
    : CsvReader(text, std::move(path)) {
  if (!Next()) {
    throw DataError("a CSV file must begin with the header {}, got no line ({}:1)",
                    Join(required, ","), path_);
  }
  header_.assign(fields_.begin(), fields_.end());
  CheckHeader(required, optional);
}

void CsvReader::CheckHeader(const std::vector<std::string>& required,
                            const std::vector<std::string>& optional) {
  std::vector<std::string> known = required;
  known.insert(known.end(), optional.begin(), optional.end());
  for (std::size_t i = 0; i < header_.size(); ++i) {
    const std::string& column = header_[i];
    if (!Contains(known, column)) {
      throw DataError("every column must be one that the format knows, got {}{} ({})",
                      Quoted(column), DidYouMean(column, known), place());
    }
    if (const auto first = std::find(header_.begin(), header_.end(), column) - header_.begin();
        static_cast<std::size_t>(first) != i) {
      throw DataError("a column stands once in the header, got '{}' as columns {} and {} ({})",
                      column, first + 1, i + 1, place());
    }
  }
  for (const std::string& column : required) {
    if (!Contains(header_, column)) {
      throw DataError("column '{}' is required, got only {} ({})", column, Join(header_, ","),
                      place());
    }
  }
}

bool CsvReader::Next() {
  while (at_ < text_.size()) {
    row_line_ = line_;
    ReadRow();
    if (fields_.size() > 1 || !fields_[0].empty()) return true;
  }
  return false;
}

void CsvReader::ReadRow() {
  fields_.clear();
  made_.clear();
  misplaced_quote_ = false;
  holds_nul_ = false;
  while (ReadField()) {
  }
}

// A field without quotes is not copied: millions of rows are read so.
bool CsvReader::ReadField() {
  const std::size_t begin = at_;
  std::string* joined = nullptr;  // the field so far, once it had a quote
  const auto end_field = [&](std::size_t end) {
    fields_.push_back(joined != nullptr ? std::string_view(*joined)
                                        : text_.substr(begin, end - begin));
  };
  while (at_ < text_.size()) {
    const std::size_t here = at_;
    const char c = text_[at_++];
    if (c == separator_) {
      end_field(here);
      return true;
    }
    if (c == '\n' || c == '\r') {
      const bool two = c == '\r' && text_.substr(at_, 1) == "\n";
      if (c == '\n' || two || any_table_) {
        at_ += two ? 1 : 0;
        ++line_;
        end_field(here);
        return false;
      }
    }
    const bool at_start = here == begin;  // the only place where a quote may open
    if (c == '"' && quotes_ && (at_start || !any_table_)) {
      if (!at_start) misplaced_quote_ = true;
      if (joined == nullptr) joined = &made_.emplace_back(text_.substr(begin, here - begin));
      ReadQuoted(joined);
      continue;
    }
    if (c == '\0') holds_nul_ = true;
    if (joined != nullptr) *joined += c;
  }
  end_field(text_.size());
  return false;
}

// Up to the closing quote; "" is a quote.
void CsvReader::ReadQuoted(std::string* field) {
  while (true) {
    if (at_ >= text_.size()) {
      throw RowError("a quoted field must be closed", "the end of the file", place());
    }
    const char inner = text_[at_++];
    if (inner == '\n') ++line_;
    if (inner == '"') {
      if (text_.substr(at_, 1) != "\"") break;
      ++at_;
    }
    if (inner == '\0') holds_nul_ = true;
    *field += inner;
  }
  const std::string_view next = text_.substr(at_, 1);
  if (!next.empty() && next.front() != separator_ && next != "\n" && next != "\r") {
    misplaced_quote_ = true;
  }
}

void CsvReader::CheckRow() const {
  if (holds_nul_) throw RowError("a field must hold text", "a byte 0x00", place());
  if (misplaced_quote_) {
    throw RowError("a quote must open and close a whole field", "one inside a field", place());
  }
  if (fields_.size() != header_.size()) {
    throw RowError(fmt::format("a row must have {} fields as in the header", header_.size()),
                   CountOfFields(), place());
  }
}

// Of a row that is too short the column in which it ends: a line break there is the usual cause.
std::string CsvReader::CountOfFields() const {
  const std::size_t count = fields_.size();
  if (count >= header_.size()) return std::to_string(count);
  const bool rest = count == 1;  // of the row before
  return fmt::format("{}, as where a line break stands in column {}{}", count,
                     Quoted(rest ? header_.back() : header_[count - 1]),
                     rest ? " of the row before" : "");
}

void CsvReader::JoinSurplus(std::size_t column) {
  if (fields_.size() <= header_.size()) return;
  std::string& text = made_.emplace_back(fields_.at(column));
  const std::size_t surplus = fields_.size() - header_.size();
  for (std::size_t i = 1; i <= surplus; ++i) {
    text += separator_;
    text += fields_.at(column + i);
  }
  fields_[column] = text;
  const auto first = fields_.begin() + static_cast<std::ptrdiff_t>(column) + 1;
  fields_.erase(first, first + static_cast<std::ptrdiff_t>(surplus));
}

std::string CsvReader::place() const { return fmt::format("{}:{}", path_, row_line_); }

const std::string_view* CsvReader::Field(std::string_view column) const {
  const auto found = std::find(header_.begin(), header_.end(), column);
  return found == header_.end() ? nullptr
                                : &fields_.at(static_cast<std::size_t>(found - header_.begin()));
}

std::string_view CsvReader::At(std::size_t column) const { return Trim(fields_.at(column)); }

bool CsvReader::Has(std::string_view column) const { return !Text(column).empty(); }

std::string_view CsvReader::Text(std::string_view column) const {
  const std::string_view* field = Field(column);
  if (field == nullptr) return {};
  return quotes_ ? *field : Trim(*field);  // squeue -O pads its fields
}

double CsvReader::Number(std::string_view column) const {
  const auto value = ParseNumber(Text(column));
  if (!value) {
    throw RowError(fmt::format("'{}' must be a finite number", column), Quoted(Text(column)),
                   place());
  }
  return *value;
}

long long CsvReader::Integer(std::string_view column, long long low, long long high) const {
  const auto value = ParseInteger(Text(column));
  if (!value || *value < low || *value > high) {
    throw RowError(fmt::format("'{}' must be a whole number from {} to {}", column, low, high),
                   Quoted(Text(column)), place());
  }
  return *value;
}

long long CsvReader::Whole(std::string_view column, long long low, long long high) const {
  const auto value = ParseNumber(Text(column));
  if (!value || !(*value >= static_cast<double>(low) && *value <= static_cast<double>(high)) ||
      *value != std::floor(*value)) {
    throw RowError(fmt::format("'{}' must be a whole number from {} to {}", column, low, high),
                   Quoted(Text(column)), place());
  }
  return static_cast<long long>(*value);
}

double CsvReader::Calendar(std::string_view column) const {
  const auto value = ParseCalendar(Text(column));
  if (!value) {
    throw RowError(fmt::format("'{}' must be like 2017-11-13 08:00:00", column),
                   Quoted(Text(column)), place());
  }
  return static_cast<double>(*value);
}

int HeaderMatch(std::string_view head, const std::vector<std::string>& required,
                const std::vector<std::string>& optional) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const auto fields = Split(Trim(head.substr(0, head.find('\n'))), ',');
  const auto names = [&](std::string_view field) {
    if (field.size() > 1 && field.front() == '"' && field.back() == '"') {
      field = field.substr(1, field.size() - 2);
    }
    return [field](const std::string& column) { return column == field; };
  };
  std::size_t found = 0, unknown = 0;
  for (const std::string_view field : fields) {
    if (std::any_of(required.begin(), required.end(), names(field))) {
      ++found;
    } else if (std::none_of(optional.begin(), optional.end(), names(field))) {
      ++unknown;
    }
  }
  return static_cast<int>(100 * std::min(found, required.size()) / (required.size() + unknown));
}

}  // namespace allot
