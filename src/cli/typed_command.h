#pragma once
// The command as the user typed it, for what is kept with results.

#include <string>

namespace allot {

void RememberCommand(int argc, char** argv);  // once, before anything else
std::string TypedCommand();                   // repeatable in a shell

}  // namespace allot
