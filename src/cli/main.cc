// The program: all of it is in the registered commands.

#include "cli/program.h"

int main(int argc, char** argv) { return allot::RunProgram(argc, argv); }
