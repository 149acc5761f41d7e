#pragma once
// A policy through the C interface (plugin/allot_plugin.h), as the daemon asks it: the one that is
// linked into the program, or a library with the same functions. Decides exactly as the policy
// itself would (tests/conformance); whatever a library answers, the daemon checks it.

#include <memory>
#include <string>

#include "sched/policy.h"

namespace allot {

// `library`: path for dlopen; "": what is linked in. UsageError when it cannot be loaded or is of
// another version; what the library refuses (the spec, its checkpoint) with the library's code.
std::unique_ptr<Policy> MakePluginPolicy(const std::string& library, const std::string& spec);

}  // namespace allot
