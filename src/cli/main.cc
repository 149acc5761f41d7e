// The program; its commands are registered.

#include "cli/program.h"

int main(int argc, char** argv) { return allot::RunProgram(argc, argv); }
