#pragma once
// The program allot as a function, for main.cc and for `python -m allot`.

namespace allot {

// Runs the command line and returns the exit code; prints errors and does not throw. Installs the
// interrupt handler. Call it once per process, because commands may keep state.
int RunProgram(int argc, char** argv);

}  // namespace allot
