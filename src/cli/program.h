#pragma once
// The program allot as a function, for main.cc and for `python -m allot`.

#include <functional>
#include <string>

#include "core/command_line.h"

namespace allot {

// Runs the command line and returns the exit code; prints errors and does not throw. Installs the
// interrupt handler. Call it once per process, because commands may keep state.
int RunProgram(int argc, char** argv);

// Parses the words of RunProgram once more, with the file of --config as it is now. `declare` puts
// the options of `command`, the typed one, on a new command line, and their variables get the
// values. Returns what was given for them; UsageError as RunProgram would print it.
GivenOptions ParseAgain(const std::string& command,
                        const std::function<void(CommandLine&)>& declare);

}  // namespace allot
