#include "tests/unit/live/runtimes/kubernetes/fake_job_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/unit/live/runtimes/kubernetes/fake_objects.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;

constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";

std::string FullName(const Json& object) {
  return object["metadata"]["namespace"].get<std::string>() + "/" +
         object["metadata"]["name"].get<std::string>();
}

int IndexOf(const Json& pod) {
  return std::stoi(pod["metadata"]["annotations"].value(kIndex, "-1"));
}

bool IsIndexed(const Json& job) { return job["spec"].value("completionMode", "") == "Indexed"; }

bool IsFinished(const Json& job) {
  for (const Json& one : job["status"].value("conditions", Json::array())) {
    if (one["type"] == "Complete" || one["type"] == "Failed") return true;
  }
  return false;
}

}  // namespace

void FakeJobController::Act() {
  std::vector<Json> jobs;
  server_.ForEach("jobs", [&](const Json& job) {
    if (!job["spec"].contains("managedBy")) jobs.push_back(job);
  });
  for (const Json& job : jobs) Run(job);
}

FakeJobController::Pods FakeJobController::PodsOf(const Json& job) const {
  Pods pods;
  server_.ForEach("pods", [&](const Json& pod) {
    if (OwnerOf(pod) != job["metadata"]["uid"].get<std::string>()) return;
    const std::string phase = pod["status"].value("phase", "");
    if (phase == "Succeeded") {
      ++pods.succeeded[IndexOf(pod)];
    } else if (phase == "Failed") {
      ++pods.failed;
    } else if (!pod["metadata"].contains("deletionTimestamp")) {
      pods.active.push_back(pod);
    }
  });
  return pods;
}

void FakeJobController::Run(const Json& job) {
  Pods pods = PodsOf(job);
  const Json& spec = job["spec"];
  if (IsFinished(job) || spec.value("suspend", false)) {
    for (const Json& pod : pods.active) Delete(pod);
    return;
  }
  const int completions = spec.value("completions", 1 << 20);
  const int enough = spec.value("/successPolicy/rules/0/succeededCount"_json_pointer, completions);
  const int succeeded = static_cast<int>(pods.succeeded.size());
  if (succeeded >= enough) return End(job, "SuccessCriteriaMet", "Complete", "CompletionsReached");
  if (pods.failed > spec.value("backoffLimit", 6)) {
    return End(job, "FailureTarget", "Failed", "BackoffLimitExceeded");
  }
  const int want = std::min(spec.value("parallelism", 1), completions - succeeded);
  const auto goes_before = [&](const Json& a, const Json& b) {
    const auto rank = [&](const Json& pod) {
      const bool beyond = IsIndexed(job) && IndexOf(pod) >= completions;
      const int age = std::stoi(pod["metadata"]["annotations"]["test/age"].get<std::string>());
      return std::tuple(!beyond, pod["spec"].contains("nodeName"), -age);
    };
    return rank(a) < rank(b);
  };
  std::sort(pods.active.begin(), pods.active.end(), goes_before);
  while (static_cast<int>(pods.active.size()) > want) {
    Delete(pods.active.front());
    pods.active.erase(pods.active.begin());
  }
  while (static_cast<int>(pods.active.size()) < want) {
    Create(job, pods);
    pods = PodsOf(job);
  }
}

void FakeJobController::Create(const Json& job, const Pods& pods) {
  std::set<int> used;
  for (const Json& pod : pods.active) used.insert(IndexOf(pod));
  for (const auto& [index, count] : pods.succeeded) used.insert(index);
  int index = 0;
  while (used.contains(index)) ++index;
  Json pod = job["spec"]["template"];
  Json& meta = pod["metadata"];
  const std::string name = job["metadata"]["name"];
  meta["name"] = fmt::format("{}-{}-x{}", name, IsIndexed(job) ? index : 0, ++created_);
  meta["namespace"] = job["metadata"]["namespace"];
  meta["annotations"]["test/age"] = std::to_string(created_);  // for creationTimestamp
  if (IsIndexed(job)) meta["annotations"][kIndex] = std::to_string(index);
  meta["ownerReferences"] = {{{"apiVersion", "batch/v1"},
                              {"kind", "Job"},
                              {"name", name},
                              {"uid", job["metadata"]["uid"]},
                              {"controller", true}}};
  server_.Create("pods", std::move(pod));
}

void FakeJobController::End(const Json& job, const char* announced, const char* type,
                            const char* reason) {
  server_.Update("jobs", FullName(job), [&](Json& object) {
    for (const char* one : {announced, type}) {
      object["status"]["conditions"].push_back({{"type", one},
                                                {"status", "True"},
                                                {"reason", reason},
                                                {"message", fmt::format("{}: the test", reason)}});
    }
  });
}

// One that no kubelet has goes at once.
void FakeJobController::Delete(const Json& pod) {
  if (!pod["spec"].contains("nodeName")) return server_.Remove("pods", FullName(pod));
  server_.Update("pods", FullName(pod), [](Json& object) {
    object["metadata"]["deletionTimestamp"] = "2026-11-22T12:41:57Z";
    object["metadata"]["deletionGracePeriodSeconds"] = GraceOf(object);
  });
}

}  // namespace allot
