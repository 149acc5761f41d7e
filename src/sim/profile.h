#pragma once
// A profile: a named set of simulator options. What distinguishes one system's world from another's
// is here as data, never as a branch in the engine.

#include <functional>
#include <string>

#include "core/registry.h"
#include "sim/scenario.h"

namespace allot {

struct ProfileInfo {
  std::string id;
  std::string summary;
  std::function<void(SimOptions*)> apply;
};

}  // namespace allot
