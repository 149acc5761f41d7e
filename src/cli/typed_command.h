#pragma once
// The command as the user typed it, which is stored with results.

#include <string>
#include <vector>

namespace allot {

void RememberCommand(int argc, char** argv);  // call once, before anything else
std::string TypedCommand();                   // repeatable in a shell
const std::vector<std::string>& TypedWords();

}  // namespace allot
