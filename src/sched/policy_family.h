#pragma once
// Policies that are not known when the program starts: whole families of them, found by name when
// a spec names one. Python's are such a family (python/bindings): "python:MODULE:CLASS", and what a
// session has registered. A registered policy (PolicyInfo) comes before a family's of equal name.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry.h"
#include "sched/policy.h"

namespace allot {

struct PolicyFamily {
  std::string id;       // "python"
  std::string summary;  // one line
  // What stands before the first ':' in specs that are of the family. May change while the program
  // runs. Called from any thread.
  std::function<std::vector<std::string>()> names;
  // The policy that a whole spec means; what follows the name is the family's own. Throws as
  // PolicyInfo::make. Called from any thread.
  std::function<std::unique_ptr<Policy>(std::string_view spec)> make;
  // The files that a spec is made from, as FilesOfPolicy. Empty: not known.
  std::function<std::vector<std::string>(std::string_view spec)> files{};
};

// The family that a spec is of; null: of none, it is to be a registered policy's.
const PolicyFamily* FamilyOf(std::string_view spec);

}  // namespace allot
