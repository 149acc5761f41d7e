#pragma once
// Files of other schedulers and tools that no reader takes as they are: known by their content, so
// that a message names the program and the command that makes a file that can be read.

#include <optional>
#include <string>
#include <string_view>

namespace allot {

struct ForeignFile {
  std::string what;       // "an accounting log of PBS"
  std::string advice;     // what to do: whole commands, `path` in them
  bool is_table = false;  // readable with --columns
};

// nullopt for anything else. `path` is the file as it was given.
std::optional<ForeignFile> RecogniseForeignFile(std::string_view text, const std::string& path);

}  // namespace allot
