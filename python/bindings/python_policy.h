#pragma once
// A policy that Python decides: an allot.Policy object behind the seam sched/policy.h.

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "bindings/kept_object.h"
#include "sched/policy.h"

namespace allot {

// Of an allot.Policy object, which belongs to this policy alone. `id`: for messages and tables.
// Called with the GIL; the policy itself may be used, and destroyed, on any thread without it.
//
// What Decide throws names the policy, the decision and the place in Python: PythonFailure for what
// the object throws, RunError for an answer that breaks a rule.
std::unique_ptr<Policy> MakePythonPolicy(const nanobind::object& object, const std::string& id);

// The same of what a factory (a Python callable without arguments) makes. Takes the GIL itself.
std::unique_ptr<Policy> CallFactory(const KeptObject& factory, const std::string& id);

}  // namespace allot
