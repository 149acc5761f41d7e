#pragma once
// A policy through the C interface (plugin/allot_plugin.h): in a library, for 'allot serve
// --plugin', or the functions that are linked into the program, for tests and 'allot bench serve'.
// Decides exactly as the policy itself would (tests/conformance). Whatever a library answers, the
// daemon validates it.

#include <memory>
#include <string>

#include "sched/policy.h"

namespace allot {

// `library`: path for dlopen; "": what is linked in. UsageError when it cannot be loaded or is of
// another version; what the library refuses (the spec, its checkpoint) with the library's code.
std::unique_ptr<Policy> MakePluginPolicy(const std::string& library, const std::string& spec);

}  // namespace allot
