#include "live/runtimes/kubernetes/job_status.h"

#include <algorithm>
#include <cmath>

#include "clients/kubernetes/kube_time.h"

namespace allot {
namespace {

constexpr const char* kFinishedWord = "Finished";
constexpr const char* kFailedWord = "AllotGaveUp";
constexpr const char* kCancelledWord = "AllotCancelled";  // by a user of the daemon

nlohmann::json ConditionOf(const char* type, const JobEnd& end, const std::string& now) {
  const char* reason = end.state == JobState::kFinished    ? kFinishedWord
                       : end.state == JobState::kCancelled ? kCancelledWord
                                                           : kFailedWord;
  return {{"type", type},         {"status", "True"},
          {"lastProbeTime", now}, {"lastTransitionTime", now},
          {"reason", reason},     {"message", end.reason}};
}

std::string StartOf(const ManagedJob& job, const std::string& now) {
  return std::isnan(job.started) ? now : KubeTimeText(static_cast<std::int64_t>(job.started));
}

}  // namespace

std::optional<JobEnd> EndIn(const ManagedJob& job) {
  if (job.Condition("Complete") || job.Condition("SuccessCriteriaMet")) {
    return JobEnd{JobState::kFinished, ""};
  }
  const KubeCondition* failed = job.Condition("Failed");
  if (failed == nullptr) failed = job.Condition("FailureTarget");
  if (failed == nullptr) return std::nullopt;
  const bool cancelled = failed->reason == kCancelledWord;
  return JobEnd{cancelled ? JobState::kCancelled : JobState::kFailed,
                failed->message.empty() ? failed->reason : failed->message};
}

bool IsClosed(const ManagedJob& job) {
  return job.Condition("Complete") || job.Condition("Failed");
}

std::optional<nlohmann::json> StatusPatch(const ManagedJob& job, const std::optional<JobEnd>& end,
                                          int active, int ready, const std::string& now) {
  if (IsClosed(job)) return std::nullopt;
  nlohmann::json status = nlohmann::json::object();
  if (std::isnan(job.started) && (active > 0 || end)) status["startTime"] = now;
  if (job.active != active) status["active"] = active;
  if (job.ready != ready) status["ready"] = ready;
  if (end) {
    const bool done = end->state == JobState::kFinished;
    const char* announced = done ? "SuccessCriteriaMet" : "FailureTarget";
    nlohmann::json conditions = *job.raw_conditions;
    if (job.Condition(announced) == nullptr) {
      conditions.push_back(ConditionOf(announced, *end, now));
      status["conditions"] = std::move(conditions);
    } else if (active == 0) {
      conditions.push_back(ConditionOf(done ? "Complete" : "Failed", *end, now));
      status["conditions"] = std::move(conditions);
      status["active"] = status["ready"] = status["terminating"] = 0;
      // Another daemon's clock may have been ahead.
      if (done) status["completionTime"] = std::max(now, StartOf(job, now));
    }
  }
  if (status.empty()) return std::nullopt;
  return nlohmann::json{{"status", std::move(status)}};
}

}  // namespace allot
