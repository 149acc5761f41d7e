#pragma once
// A file of JSON records, one a line, that only grows. A last line that was cut off is no record:
// it is removed before the next one is written.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/owned_file.h"

namespace allot {

class JsonLines {
 public:
  // Reads what is there; nothing where there is no file. `read` gets each record, may throw
  // nlohmann's exceptions for missing fields, and returns the rule that a record breaks ("must have
  // ..."), "" for none. DataError with file and line for a record that breaks one; `what` stands
  // for a record in messages.
  using Read = std::function<std::string(const nlohmann::ordered_json&)>;
  JsonLines(std::filesystem::path path, const std::string& what, const Read& read);

  // On disk when it returns, all at once. RunError when the file cannot be written. The file lies
  // in a folder that one process at a time writes to (core/file_lock.h).
  void Append(const std::vector<nlohmann::ordered_json>& records);

 private:
  std::filesystem::path path_;
  std::optional<OwnedFile> file_;  // once something was written
  std::size_t whole_ = 0;          // bytes of whole records
};

}  // namespace allot
