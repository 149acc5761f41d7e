#pragma once
// Walks the records of a file that is one JSON list, parsing one record at a time: the original
// Philly log is too large to hold parsed, a malformed record can be skipped, and errors know their
// line.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot {

// Where the members of an object stand in the text that it is part of.
struct JsonMember {
  std::string_view key;    // as it is written, without quotes
  std::string_view value;  // without blanks around it
};
struct JsonObjectText {
  std::size_t end = 0;  // behind its '}'
  std::vector<JsonMember> members;
};
// The object that begins with the '{' at `begin`, by its brackets and strings alone; nullopt where
// the text ends inside of it.
std::optional<JsonObjectText> ScanJsonObject(std::string_view text, std::size_t begin);

class JsonRecords {
 public:
  // The list begins at byte `at`, on `line`, and ends the text. DataError when no '[' is there (a
  // byte order mark may stand before it). `text` must outlive the walk.
  JsonRecords(std::string_view text, std::string path, std::size_t at = 0, int line = 1);

  // Moves to the next record; false after the closing bracket. DataError when the list is cut short
  // or something follows it.
  bool Next();
  // The present record. RowError with byte and line when it is none (core/user_json.h).
  nlohmann::json Parse() const;

  int line() const { return line_; }  // where the present record begins, from 1

 private:
  void SkipSpace();
  [[noreturn]] void Fail(std::string_view rule) const;

  std::string_view text_;
  std::string path_;
  std::size_t at_;
  std::size_t begin_ = 0;  // of the present record
  std::size_t end_ = 0;
  int line_;
  std::size_t counted_;  // line_ is the line of this byte
  bool first_ = true;
};

}  // namespace allot
