#pragma once
// Commands that people can copy into a shell.

#include <string>

namespace allot {

// A word as a shell takes it: in quotes where it needs them.
inline std::string ShellWord(const std::string& word) {
  const bool plain = word.find_first_of(" \t\n'\"|&;<>$`\\(){}*?#~") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace allot
