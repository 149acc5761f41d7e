#pragma once
// Sweeps that ship with allot: definitions by name, most of them published figures. A new one is
// one file src/sweep/presets/ID.toml, whose first line is a comment with the summary.

#include <string>

#include "core/registry.h"

namespace allot {

struct SweepPreset {
  std::string id;
  std::string summary;
  std::string toml;  // a definition file, docs/sweeps.md
};

}  // namespace allot
