#pragma once
// The status of a Job of which allot is the controller, as patches that the API's validation of
// Jobs accepts: an end is announced first (SuccessCriteriaMet, FailureTarget), and comes (Complete,
// Failed) once no pod is active. A Job that has begun keeps its startTime. Pure.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/runtime.h"

namespace allot {

// How a Job is to end, or has ended.
struct JobEnd {
  JobState state = JobState::kFinished;  // kFinished, kFailed or kCancelled
  std::string reason;                    // for people; "" where it finished
};

// What the conditions of a Job say of its end; nullopt: it goes on.
std::optional<JobEnd> EndIn(const ManagedJob& job);
// Complete or Failed: nothing of it changes any more.
bool IsClosed(const ManagedJob& job);

// The merge patch of its status that the Job needs next; nullopt: none. `active` pods of it have
// not ended, `ready` of these have joined. `now`: "2026-11-22T12:38:49Z".
std::optional<nlohmann::json> StatusPatch(const ManagedJob& job, const std::optional<JobEnd>& end,
                                          int active, int ready, const std::string& now);

}  // namespace allot
