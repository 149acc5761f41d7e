#include "cli/typed_command.h"

#include "core/shell_text.h"

namespace allot {
namespace {

std::string& CommandText() {
  static std::string text;
  return text;
}

}  // namespace

void RememberCommand(int argc, char** argv) {
  std::string text = "allot";
  for (int i = 1; i < argc; ++i) text += " " + ShellWord(argv[i]);
  CommandText() = text;
}

std::string TypedCommand() { return CommandText(); }

}  // namespace allot
