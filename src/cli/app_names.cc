#include "cli/app_names.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace allot {

std::vector<const CLI::App*> TypedPath(const CLI::App& app) {
  std::vector<const CLI::App*> path;
  for (const CLI::App* at = &app; !at->get_subcommands().empty(); path.push_back(at)) {
    at = at->get_subcommands().front();
  }
  return path;
}

const CLI::App& TypedApp(const CLI::App& app) {
  const std::vector<const CLI::App*> path = TypedPath(app);
  return path.empty() ? app : *path.back();
}

std::vector<std::string> TypedNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : TypedPath(app)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> LongNames(const CLI::App& app, std::string_view prefix) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const bool setting = name != "help" && name != "help-all" && name != "version";
      if (setting) names.push_back(fmt::format("{}{}", prefix, name));
    }
  }
  return names;
}

}  // namespace allot
