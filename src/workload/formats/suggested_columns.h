#pragma once
// What to do with a trace file that is a table in no known format: a guess of its columns
// (table/column_guess.h) that was tried, and the commands to go on with, for people and for
// programs. For `allot trace inspect`.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace allot {

struct SuggestedColumns {
  bool complete = false;  // enough for jobs
  // In about 100 columns: which column means what, what is lacking and how to name it, and whole
  // commands.
  std::string text;
  nlohmann::ordered_json json;
};

// nullopt where the file is no table, or is of a known format.
std::optional<SuggestedColumns> SuggestColumns(const std::string& path);

}  // namespace allot
