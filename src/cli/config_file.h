#pragma once
// The file of --config: TOML whose keys are long options of the typed command, or of the program.
// CLI11 asks for its entries; toml++ reads it, so that errors name file and line.

#include <CLI/CLI.hpp>
#include <istream>
#include <map>
#include <string>
#include <vector>

namespace allot {

class ConfigFile : public CLI::ConfigTOML {
 public:
  explicit ConfigFile(const CLI::App& app) : app_(app) {}  // the program; outlives this

  // UsageError naming file and line for text that is not TOML, a key that is no option, and a value
  // that no option can have. A table [rules] stands for the file itself, of which --rules reads it.
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override;

  // CLI11's message about the value of an option, with the line of the file that has it.
  std::string ExplainValue(const std::string& message) const;

 private:
  const CLI::App& app_;
  mutable std::map<std::string, unsigned> lines_;  // by key, of the file that was read
};

}  // namespace allot
