#pragma once
// The seam for subcommands: one file per command in this folder registers a CommandInfo; main.cc
// makes the program from the registry.

#include <functional>
#include <string>

#include "core/command_line.h"
#include "core/error.h"
#include "core/registry.h"
#include "experiment/global_options.h"

namespace allot {

// UsageError where a file would go to stdout and --json, too.
inline void RequireOut(const std::string& out, const GlobalOptions& globals) {
  if (out.empty() && globals.json) throw UsageError("--json needs --out: the CSV takes stdout");
}

struct CommandInfo {
  std::string id;  // "simulate", or "trace inspect" for a nested command
  std::string summary;
  // Declares the command's options on `line` and returns what to run; the return value of that is
  // the exit code. Option variables live in the returned closure, which may refer to `line`.
  std::function<std::function<int()>(CommandLine& line, const GlobalOptions& globals)> declare;
  // It lists what is registered, or has nested commands, where libtorch is (torch_program.h).
  bool needs_torch = false;
};

}  // namespace allot
