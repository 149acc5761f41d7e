// The C interface: what may throw is inside Guarded, what is behind it is Decider.

#include "plugin/allot_plugin.h"

#include <string>

#include "core/error.h"
#include "plugin/decider.h"

struct allot_policy {
  std::unique_ptr<allot::Decider> decider;
};

namespace {

thread_local std::string last_error;

int32_t Failed(int32_t code, const char* what, const char* why) noexcept {
  try {
    last_error = std::string(what) + why;
  } catch (...) {
    last_error.clear();  // no memory for the words
  }
  return code;
}

template <typename Body>
int32_t Guarded(const Body& body) noexcept {
  try {
    body();
    return ALLOT_OK;
  } catch (const allot::Error& error) {
    return Failed(static_cast<int32_t>(error.code()), "", error.what());
  } catch (const std::exception& error) {
    return Failed(ALLOT_FAILED, "internal error: ", error.what());
  } catch (...) {
    return Failed(ALLOT_FAILED, "internal error", "");
  }
}

template <typename Pointer>
void CheckThere(const char* name, Pointer pointer) {
  if (pointer == nullptr) throw allot::UsageError("'{}' must not be NULL", name);
}

}  // namespace

extern "C" {

int32_t allot_plugin_version(void) { return ALLOT_PLUGIN_VERSION; }

const char* allot_last_error(void) { return last_error.c_str(); }

int32_t allot_policy_create(const char* spec, allot_policy** policy) {
  return Guarded([&] {
    CheckThere("policy", policy);
    *policy = nullptr;
    CheckThere("spec", spec);
    *policy = new allot_policy{allot::Decider::OfSpec(spec)};
  });
}

int32_t allot_policy_create_from_checkpoint(const char* folder, allot_policy** policy) {
  return Guarded([&] {
    CheckThere("policy", policy);
    *policy = nullptr;
    CheckThere("folder", folder);
    *policy = new allot_policy{allot::Decider::OfCheckpoint(folder)};
  });
}

void allot_policy_destroy(allot_policy* policy) { delete policy; }

int32_t allot_policy_reset(allot_policy* policy) {
  return Guarded([&] {
    CheckThere("policy", policy);
    policy->decider->Reset();
  });
}

int32_t allot_policy_decide_json(allot_policy* policy, const char* snapshot,
                                 const char** decision) {
  return Guarded([&] {
    CheckThere("policy", policy);
    CheckThere("snapshot", snapshot);
    CheckThere("decision", decision);
    *decision = policy->decider->Decide(snapshot).c_str();
  });
}

int32_t allot_policy_explain(allot_policy* policy, const char** explanation) {
  return Guarded([&] {
    CheckThere("policy", policy);
    CheckThere("explanation", explanation);
    *explanation = policy->decider->Explain().c_str();
  });
}

}  // extern "C"
