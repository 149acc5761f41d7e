#include "table/json_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/strings.h"
#include "core/user_json.h"
#include "table/byte_order_mark.h"
#include "table/row_error.h"

namespace allot {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

int LinesBetween(std::string_view text, std::size_t begin, std::size_t end) {
  const std::string_view part = text.substr(begin, end - begin);
  return static_cast<int>(std::count(part.begin(), part.end(), '\n'));
}

}  // namespace

std::optional<JsonObjectText> ScanJsonObject(std::string_view text, std::size_t begin) {
  JsonObjectText object;
  JsonMember member;
  int depth = 0;
  std::size_t value = 0;  // where the present member's begins; 0: its key is not complete
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t first = at + 1;
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
      if (at >= text.size()) return std::nullopt;
      if (depth == 1 && value == 0) member.key = text.substr(first, at - first);
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (depth == 1 && c == ':' && value == 0) value = at + 1;
    if (depth == 1 && (c == ',' || closes)) {
      if (value > 0) {
        member.value = Trim(text.substr(value, at - value));
        object.members.push_back(std::exchange(member, {}));
      }
      value = 0;
    }
    if (c == '{' || c == '[') ++depth;
    if (closes && --depth <= 0) {
      object.end = at + 1;
      return object;
    }
  }
  return std::nullopt;
}

JsonRecords::JsonRecords(std::string_view text, std::string path, std::size_t at, int line)
    : text_(text), path_(std::move(path)), at_(at), line_(line), counted_(at) {
  if (at_ == 0 && text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  SkipSpace();
  if (at_ == text_.size() || text_[at_] != '[') Fail("a JSON trace must begin with '['");
  ++at_;
}

void JsonRecords::SkipSpace() {
  at_ = std::min(text_.find_first_not_of(kSpace, at_), text_.size());
}

void JsonRecords::Fail(std::string_view rule) const {
  const std::string got =
      at_ < text_.size() ? Quoted(text_.substr(at_, 20)) : "the end of the file";
  throw DataError("{}, got {} at byte {} ({}:{})", rule, got, at_, path_,
                  1 + LinesBetween(text_, 0, at_));
}

bool JsonRecords::Next() {
  SkipSpace();
  const bool closed = at_ < text_.size() && text_[at_] == ']';
  if (closed) {
    ++at_;
    SkipSpace();
    if (at_ < text_.size()) Fail("nothing may follow the JSON list");
    return false;
  }
  if (!std::exchange(first_, false)) {
    if (at_ == text_.size() || text_[at_] != ',') Fail("the JSON list must be closed by ']'");
    ++at_;
    SkipSpace();
  }
  begin_ = at_;
  line_ += LinesBetween(text_, counted_, begin_);
  counted_ = begin_;
  // The record ends at the first ',' or ']' outside its own brackets and strings.
  int depth = 0;
  bool in_string = false;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (in_string) {
      if (c == '\\') ++at_;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (depth == 0 && (c == ',' || c == ']')) {
      end_ = at_;
      return true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  at_ = text_.size();
  Fail("the JSON list must be closed by ']'");
}

nlohmann::json JsonRecords::Parse() const {
  JsonFault fault;
  nlohmann::json record = ParseUserJson(text_.substr(begin_, end_ - begin_), &fault);
  if (!record.is_discarded()) return record;
  const std::size_t at = std::min(begin_ + fault.byte, end_);
  throw RowError("a record " + fault.rule,
                 fmt::format("{} at byte {}", Quoted(text_.substr(at, 20)), at),
                 fmt::format("{}:{}", path_, line_ + LinesBetween(text_, begin_, at)));
}

}  // namespace allot
