#include "cli/typed_command.h"

#include "core/shell_text.h"

namespace allot {
namespace {

std::vector<std::string>& CommandWords() {
  static std::vector<std::string> words;
  return words;
}

}  // namespace

void RememberCommand(int argc, char** argv) { CommandWords().assign(argv, argv + argc); }

std::string TypedCommand() {
  std::string text = "allot";
  for (std::size_t i = 1; i < CommandWords().size(); ++i)
    text += " " + ShellWord(CommandWords()[i]);
  return text;
}

const std::vector<std::string>& TypedWords() { return CommandWords(); }

}  // namespace allot
