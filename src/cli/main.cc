// The program: builds the command line from the registered commands and maps errors to exit codes.

#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/experiment.h"
#include "cli/version.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 ok, 1 run failed, 2 usage or configuration, 3 bad data, 4 check failed,\n"
    "            130 interrupted (after a checkpoint was written).\n"
    "Start with: allot trace inspect      then: allot compare --load 1.0";

// Messages of CLI11 about unknown words, with a suggestion.
std::string ExplainExtras(const CLI::App& app, const std::string& message) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const CLI::App* sub : command->get_subcommands({})) known.push_back(sub->get_name());
  for (const std::string& extra : command->remaining(true)) {
    if (extra.starts_with("--")) {
      return fmt::format("unknown option '{}'{}", extra, DidYouMean(extra.substr(0, extra.find('=')), known));
    }
    return fmt::format("unexpected argument '{}'{}", extra, DidYouMean(extra, known));
  }
  return message;
}

int Run(int argc, char** argv) {
  CLI::App app{"allot: simulate, train and compare schedulers for GPU clusters", "allot"};
  app.set_version_flag("--version", Version());
  app.footer(kFooter);
  app.require_subcommand(1);
  app.fallthrough();
  app.get_formatter()->column_width(34);
  GlobalOptions globals;
  app.add_flag("--json", globals.json, "machine-readable result on stdout");
  app.add_flag("-q,--quiet", globals.quiet, "no progress and no narration on stderr");
  app.add_option("--threads", globals.threads, "threads, 0 = all cores; results do not depend on it")
      ->check(CLI::NonNegativeNumber);

  std::map<std::string, CLI::App*> groups;
  std::vector<std::pair<CLI::App*, std::function<int()>>> runs;
  for (const CommandInfo& info : Registry<CommandInfo>::Global().entries()) {
    CLI::App* parent = &app;
    std::string name = info.id;
    if (const std::size_t space = name.find(' '); space != std::string::npos) {
      const std::string group = name.substr(0, space);
      name = name.substr(space + 1);
      if (!groups.contains(group)) {
        groups[group] = app.add_subcommand(group, fmt::format("commands on a {}", group));
        groups[group]->require_subcommand(1);
        groups[group]->fallthrough();
      }
      parent = groups[group];
    }
    CLI::App* command = parent->add_subcommand(name, info.summary);
    command->fallthrough();
    command->set_config("--config", "", "options from a TOML file; those on the command line win");
    command->allow_config_extras(CLI::config_extras_mode::error);
    command->get_formatter()->column_width(34);
    runs.emplace_back(command, info.declare(*command, globals));
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    throw UsageError("{}", ExplainExtras(app, error.what()));
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  for (const auto& [command, run] : runs) {
    if (command->parsed()) return run();
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace
}  // namespace allot

int main(int argc, char** argv) {
  allot::InstallInterruptHandler();
  allot::RememberCommand(argc, argv);
  try {
    return allot::Run(argc, argv);
  } catch (const allot::Error& error) {
    std::fprintf(stderr, "allot: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot: internal error: %s\n", error.what());
    return static_cast<int>(allot::ExitCode::kRunFailed);
  }
}
