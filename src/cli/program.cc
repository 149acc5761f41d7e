// Builds the command line from the registered commands and maps errors to exit codes.

#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app_names.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/python_program.h"
#include "cli/torch_program.h"
#include "cli/typed_command.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/strings.h"
#include "core/version.h"
#include "core/writable.h"

namespace allot {
namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 ok, 1 run failed, 2 usage or configuration, 3 bad data, 4 check failed,\n"
    "            130 interrupted (after a checkpoint was written).";
constexpr std::size_t kLineWidth = 110;  // of help
constexpr const char* kStart =
    "\nStart with: allot trace inspect      then: allot compare --load 1.0";

// Omits "Excludes:", which CLI11 prints at both options of a pair, because the texts state it once.
// Details (command_line.h) are shown by --help-all only, each below its heading.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    text.resize(std::min(text.size(), text.find(" Excludes:")));
    // A type and the range that CLI11 names with the type again: "INT:INT in [1 - 9]".
    for (const std::string type : {"INT", "UINT", "FLOAT"}) {
      const std::string twice = fmt::format(" {0}:{0}", type);
      if (text.starts_with(twice)) text.erase(0, type.size() + 2);
    }
    return text.empty() || text.front() == ' ' ? text : " " + text;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return Wrapped(CLI::Formatter::make_option(option, is_positional));
  }

  // --help-all of the program does not show the options of its commands.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
           Topics(*app, mode == CLI::AppFormatMode::All) +
           make_subcommands(app, CLI::AppFormatMode::Normal) + "\n" + make_footer(app);
  }

 private:
  // Breaks lines at blanks to at most kLineWidth columns.
  std::string Wrapped(const std::string& text) const {
    const std::string indent(get_column_width(), ' ');
    std::string wrapped;
    for (const std::string_view line :
         Split(std::string_view(text).substr(0, text.find_last_not_of('\n') + 1), '\n')) {
      std::string rest(line);
      while (rest.size() > kLineWidth) {
        const std::size_t blank = rest.rfind(' ', kLineWidth);
        if (blank == std::string::npos || blank <= indent.size()) break;
        wrapped += rest.substr(0, blank) + "\n";
        rest.replace(0, blank + 1, indent);
      }
      wrapped += rest + "\n";
    }
    return wrapped;
  }

  std::string Topics(const CLI::App& app, bool with_details) const {
    std::vector<std::string> topics;
    for (std::string group : app.get_groups()) {
      if (group.ends_with(kDetails)) group.resize(group.size() - kDetails.size());
      const bool known = std::find(topics.begin(), topics.end(), group) != topics.end();
      if (!group.empty() && !known) topics.push_back(group);
    }
    std::string text;
    std::size_t hidden = 0;
    for (const std::string& topic : topics) {
      std::vector<const CLI::Option*> shown = OptionsOf(app, topic);
      const auto details = OptionsOf(app, fmt::format("{}{}", topic, kDetails));
      if (with_details) {
        shown.insert(shown.end(), details.begin(), details.end());
      } else {
        hidden += details.size();
      }
      if (!shown.empty()) text += make_group(topic, false, shown);
    }
    if (hidden > 0) text += fmt::format("\n--help-all shows {} more options.\n", hidden);
    return text;
  }

  static std::vector<const CLI::Option*> OptionsOf(const CLI::App& app, const std::string& group) {
    return app.get_options([&](const CLI::Option* option) {
      return option->get_group() == group && option->nonpositional() &&
             (option != app.get_help_all_ptr() || HasDetails(app));
    });
  }

  static bool HasDetails(const CLI::App& app) {
    const std::vector<std::string> groups = app.get_groups();
    return std::any_of(groups.begin(), groups.end(),
                       [](const std::string& group) { return group.ends_with(kDetails); });
  }
};

// A word at the position of a command.
std::string ExplainCommand(const CLI::App& app, const std::string& word,
                           const std::vector<std::string>& known) {
  if (TypedPath(app).empty() && (word == "train" || word == "pretrain")) {
    return fmt::format(
        "'{}' needs libtorch: it is a command of the program allot-torch, which is not beside this "
        "one (it was built with ALLOT_WITH_TORCH=OFF, or copied alone)",
        word);
  }
  return fmt::format("unknown command '{}'{}", word, DidYouMean(word, known));
}

// Adds a suggestion to CLI11's message about unknown words. A word after an unknown option may be
// its value, so unknown options are named first, except for a word where a command is expected.
// Because commands fall through, CLI11 collects the words at the program.
std::string ExplainExtras(const CLI::App& app, const std::string& message) {
  const CLI::App& command = TypedApp(app);
  const std::vector<std::string> extras = app.remaining(true);
  std::vector<std::string> commands;
  for (const CLI::App* sub : command.get_subcommands({})) commands.push_back(sub->get_name());
  if (!commands.empty() && !extras.empty() && !extras.front().starts_with("-")) {
    return ExplainCommand(app, extras.front(), commands);
  }
  std::vector<std::string> known = LongNames(app, "--");
  if (&command != &app) {
    const std::vector<std::string> own = LongNames(command, "--");
    known.insert(known.begin(), own.begin(), own.end());
  }
  for (const std::string& extra : extras) {
    if (!extra.starts_with("--")) continue;
    return fmt::format("unknown option '{}'{}", extra,
                       DidYouMean(extra.substr(0, extra.find('=')), known));
  }
  if (extras.empty()) {
    return commands.empty() ? message : fmt::format("expected a command: {}", Join(commands, ", "));
  }
  return fmt::format("unexpected argument '{}'; see 'allot {} --help'", extras.front(),
                     Join(TypedNames(app), " "));
}

// Adds the option's text to CLI11's message about a missing option.
std::string ExplainMissing(const CLI::App& app, const std::string& message) {
  constexpr std::string_view kIsRequired = " is required";
  if (!message.ends_with(kIsRequired)) return message;
  const std::string name = message.substr(0, message.size() - kIsRequired.size());
  const CLI::Option* const option = TypedApp(app).get_option_no_throw(name);
  if (option == nullptr || option->get_description().empty()) return message;
  return fmt::format("{}: {}; see 'allot {} --help'", message, option->get_description(),
                     Join(TypedNames(app), " "));
}

// The command of that name below `app`; null if there is none.
CLI::App* Nested(CLI::App& app, const std::string& name) {
  for (CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

// True if the typed command is unknown here, or needs commands that are. Without a command, help
// shows all of them.
bool NeedsTorch(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--version") return false;
    if (word == "--config" || word == "--threads") ++i;  // and its value
    if (!word.starts_with('-')) words.emplace_back(word);
  }
  if (words.empty()) return true;
  const auto& commands = Registry<CommandInfo>::Global();
  if (const CommandInfo* command = commands.Find(words[0])) return command->needs_torch;
  const auto is_of_group = [&](const CommandInfo& info) {
    return info.id.starts_with(words[0] + " ");
  };
  return std::none_of(commands.entries().begin(), commands.entries().end(), is_of_group);
}

// What every command line has.
void DeclareProgram(CLI::App& app, GlobalOptions& globals) {
  app.set_help_all_flag("--help-all", "help with all options");
  app.set_version_flag("--version", Version());
  app.footer(kExitCodes);  // the footer of all commands without their own
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(1);
  app.fallthrough();
  app.get_formatter()->column_width(34);
  app.add_flag("--json", globals.json, "machine-readable result on stdout");
  app.add_flag("-q,--quiet", globals.quiet, "no progress and no notes on stderr");
  app.add_option("--threads", globals.threads,
                 "threads, 0 = all cores; results do not depend on the number")
      ->check(CLI::Range(0, 1024));
  app.set_config("--config", "", "TOML file with options of the command; the command line wins");
  app.config_formatter(std::make_shared<ConfigFile>(app));
}

// UsageError for a fault; CLI::Success after --help and --version.
void ParseProgram(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::FileError& error) {
    throw UsageError("cannot read the config file: {}", error.what());
  } catch (const CLI::ParseError& error) {
    const bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const bool no_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                            !TypedApp(app).get_subcommands({}).empty();
    if (unknown || no_command) throw UsageError("{}", ExplainExtras(app, error.what()));
    const auto& config = dynamic_cast<const ConfigFile&>(*app.get_config_formatter());
    throw UsageError("{}", config.ExplainValue(ExplainMissing(app, error.what())));
  }
}

int Run(int argc, char** argv) {
  CLI::App app{"allot: simulate, train and compare schedulers for GPU clusters", "allot"};
  GlobalOptions globals;
  DeclareProgram(app, globals);

  std::map<std::string, CLI::App*> groups;
  struct Command {
    const CLI::App* app;
    CommandLine line;
    std::function<int()> run;
  };
  std::deque<Command> commands;  // addresses stay valid: a closure may refer to its line
  for (const CommandInfo& info : Registry<CommandInfo>::Global().entries()) {
    CLI::App* parent = &app;
    std::string name = info.id;
    if (const std::size_t space = name.find(' '); space != std::string::npos) {
      const std::string group = name.substr(0, space);
      name = name.substr(space + 1);
      if (CLI::App* own = Nested(app, group); own != nullptr) {
        groups.emplace(group, own);  // a command that also has nested ones
      } else if (!groups.contains(group)) {
        groups[group] = app.add_subcommand(
            group, fmt::format("several commands, see 'allot {} --help'", group));
        groups[group]->require_subcommand(1);
        groups[group]->fallthrough();
      }
      parent = groups[group];
    }
    CLI::App* command = parent->add_subcommand(name, info.summary);
    command->fallthrough();
    command->get_formatter()->column_width(34);
    Command& added = commands.emplace_back(Command{command, CommandLine(*command), {}});
    added.run = info.declare(added.line, globals);
  }
  app.footer(std::string(kExitCodes) + kStart);

  try {
    ParseProgram(app, argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  }
  const CLI::Option* const out = TypedApp(app).get_option_no_throw("--out");
  if (out != nullptr && out->count() > 0) RequireWritable(out->as<std::string>());
  // The innermost of nested commands, which were added after their parents.
  for (auto command = commands.rbegin(); command != commands.rend(); ++command) {
    if (command->app->parsed()) return command->run();
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

GivenOptions ParseAgain(const std::string& command,
                        const std::function<void(CommandLine&)>& declare) {
  CLI::App app;
  GlobalOptions globals;
  DeclareProgram(app, globals);
  CLI::App* const typed = app.add_subcommand(command, "");
  typed->fallthrough();
  CommandLine line(*typed);
  declare(line);
  std::vector<std::string> words = TypedWords();
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  ParseProgram(app, static_cast<int>(arguments.size()), arguments.data());
  return line.Given();
}

int RunProgram(int argc, char** argv) {
  // Line buffering keeps notes on standard error from splitting lines if both streams go to one
  // file or terminal.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  InstallInterruptHandler();
  std::vector<char*> words(argv, argv + argc);
  char help[] = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") {  // "help compare" is "compare --help"
    words.erase(words.begin() + 1);
    words.push_back(help);
  }
  words.push_back(nullptr);
  argv = words.data();
  RememberCommand(argc, argv);
  try {
    ContinueWithPython(argc, argv);
    if (NeedsTorch(argc, argv)) ContinueWithTorch(argv);
    const int code = Run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      throw RunError("cannot write to standard output");
    return code;
  } catch (const Error& error) {
    std::fprintf(stderr, "allot: %s\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "allot: internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::kRunFailed);
  }
}

}  // namespace allot
