#pragma once
// The program allot as a function, for main.cc and for `python -m allot`.

namespace allot {

// Runs the command line and returns the exit code; errors are printed, none is thrown. Installs the
// interrupt handler. Once a process: commands may keep state.
int RunProgram(int argc, char** argv);

}  // namespace allot
