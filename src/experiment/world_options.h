#pragma once
// The options of a world, each once: its name, its value in WorldSpec, its help and what it may be.
// Command lines declare them from this table (cli/declare_world.h), sweeps set them by name. A new
// option is a value in WorldSpec and a row of this table.

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
  std::string default_text{};                        // what the help says of the default
  bool show_default = false;                         // or the value itself
  std::optional<std::pair<double, double>> range{};  // of numbers, both ends included
  std::string letter{};                              // "w" for -w
  bool duration = false;                             // a number of seconds, or "90m", "1h30m", "2d"
  const char* topic = nullptr;                       // heading of the help
  bool detail = false;                               // only in the long help
  NamedFiles files = nullptr;  // that the value, a text, names; null: it names none
};

const std::vector<WorldOption>& WorldOptionTable();

// The files and folders that the options of a world name.
std::vector<std::string> FilesOfWorld(const WorldSpec& world);

// Options that cannot be given together with the one of this name.
std::vector<std::string> ExcludedBy(const std::string& name);

// A world from texts by option name, as sweeps hold them: numbers, true and false, lists joined by
// commas. UsageError naming the option and the text: unknown names, values that are none, options
// that exclude one another.
WorldSpec WorldFromTexts(const std::map<std::string, std::string>& texts);

}  // namespace allot
