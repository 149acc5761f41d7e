#pragma once
// Jobs of the runtime "local" as a TOML file (docs/live.md): what a user puts into the spool folder
// or names with jobs=FILE.

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "live/runtimes/runtime.h"

namespace allot {

struct LocalJob {
  RuntimeJob asked;                  // id: the job's name, not yet made unique
  std::vector<std::string> command;  // words, no shell
  std::filesystem::path directory;   // to run in
  Seconds after = 0;                 // submitted so long after the file was taken
};

// DataError naming file, job and both values for what is missing, unknown or out of range. A
// relative `directory` is meant from the file's folder, which is also the default.
std::vector<LocalJob> ReadJobFile(const std::filesystem::path& path);

// Each job file in the folder `spool`, by name, is given to `take` and moved to taken/ there, or,
// where that ends with an Error, which is logged, to refused/.
void TakeJobFiles(const std::filesystem::path& spool,
                  const std::function<void(const std::filesystem::path&)>& take);

// For the runtime's own memory.
nlohmann::ordered_json ToJson(const LocalJob& job);
LocalJob LocalJobFromJson(const nlohmann::ordered_json& json);

}  // namespace allot
