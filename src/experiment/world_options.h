#pragma once
// The table of the options of a world: name, value in WorldSpec, help and range. Command lines
// declare them from this table (cli/declare_world.h), sweeps set them by name. A new option is a
// value in WorldSpec and a row of this table.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/params.h"
#include "experiment/world_spec.h"

namespace allot {

struct WorldOption {
  using Value =
      std::variant<std::string WorldSpec::*, bool WorldSpec::*, int WorldSpec::*,
                   double WorldSpec::*, std::uint64_t WorldSpec::*, std::optional<int> WorldSpec::*,
                   std::optional<double> WorldSpec::*, std::optional<std::string> WorldSpec::*,
                   std::vector<double> WorldSpec::*>;

  const char* name;  // "workload"
  Value value;
  std::string help;
  std::string default_text{};                        // the default in the help
  bool show_default = false;                         // the help shows the default value instead
  std::optional<std::pair<double, double>> range{};  // for numbers, both ends included
  std::string letter{};                              // "w" for -w
  bool duration = false;                             // a number of seconds, or "90m", "1h30m", "2d"
  const char* topic = nullptr;                       // heading in the help
  bool detail = false;                               // only in the long help
  NamedFiles files = nullptr;  // returns the files that the value, a text, names; null: none
};

const std::vector<WorldOption>& WorldOptionTable();

// The files and folders that the options of a world name.
std::vector<std::string> FilesOfWorld(const WorldSpec& world);

// The options that exclude the one of this name.
std::vector<std::string> ExcludedBy(const std::string& name);

// Makes a world from texts by option name, as sweeps have them: numbers, true and false, lists
// joined by commas. UsageError naming the option and the text for unknown names, malformed values,
// and options that exclude one another.
WorldSpec WorldFromTexts(const std::map<std::string, std::string>& texts);

}  // namespace allot
