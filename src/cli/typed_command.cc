#include "cli/typed_command.h"

namespace allot {
namespace {

std::string& CommandText() {
  static std::string text;
  return text;
}

// "command 'arg with spaces'": repeatable in a shell.
std::string Quoted(const std::string& word) {
  const bool plain = word.find_first_of(" \t'\"|&;<>$`\\(){}*?#~") == std::string::npos;
  return plain && !word.empty() ? word : "'" + word + "'";
}

}  // namespace

void RememberCommand(int argc, char** argv) {
  std::string text = "allot";
  for (int i = 1; i < argc; ++i) text += " " + Quoted(argv[i]);
  CommandText() = text;
}

std::string TypedCommand() { return CommandText(); }

}  // namespace allot
