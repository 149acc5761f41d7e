#pragma once
// The seam for subcommands: one file per command in this folder registers a CommandInfo; program.cc
// builds the command line from the registry.

#include <functional>
#include <string>

#include "core/command_line.h"
#include "core/error.h"
#include "core/registry.h"
#include "experiment/global_options.h"

namespace allot {

// UsageError if both a file and the JSON result would go to stdout.
inline void RequireOut(const std::string& out, const GlobalOptions& globals) {
  if (out.empty() && globals.json) throw UsageError("--json needs --out: the CSV takes stdout");
}

struct CommandInfo {
  std::string id;  // "simulate", or "trace inspect" for a nested command
  std::string summary;
  // Declares the command's options on `line` and returns the function to run, which returns the
  // exit code. Option variables live in the returned closure, which may refer to `line`.
  std::function<std::function<int()>(CommandLine& line, const GlobalOptions& globals)> declare;
  // True if the command lists registries, or has nested commands, that libtorch extends
  // (torch_program.h).
  bool needs_torch = false;
};

}  // namespace allot
