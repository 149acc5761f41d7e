#pragma once
// The Kubernetes runtime on a fake API server, under the rights that it is installed with. No
// processes: tests are users and kubelets.

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/file.h"
#include "live/runtimes/kubernetes/kubernetes_runtime.h"
#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"

namespace allot {

class KubernetesRuntimeTest : public testing::Test {
 protected:
  using Json = nlohmann::json;

  KubernetesRuntimeTest() {
    spdlog::set_level(spdlog::level::off);
    std::string pattern = (std::filesystem::temp_directory_path() / "allot-kube-XXXXXX").string();
    state_ = ::mkdtemp(pattern.data());
    server_.Restrict(ALLOT_SOURCE_DIR "/deploy/kubernetes/rights.yaml");
    const Json nodes = Json::parse(ReadTextFile(ALLOT_TEST_DATA "/kubernetes/nodes.json"));
    for (const Json& node : nodes["items"]) server_.Create("nodes", node);
  }
  ~KubernetesRuntimeTest() override {
    runtime_.reset();
    std::filesystem::remove_all(state_);
  }

  void Begin(bool dry_run = false) {
    runtime_.reset();
    KubernetesOptions options;
    options.config.server = server_.url();
    options.state = state_;
    options.dry_run = dry_run;
    options.lease = lease_;
    options.identity = identity_;
    options.config.token_file = token_file_;
    runtime_ = std::make_unique<KubernetesRuntime>(options);
  }

  // The daemon's name of it.
  std::string Submit(const std::string& name, const Json& annotations,
                     const std::function<void(Json&)>& change = {}) {
    Json job = Json::parse(ReadTextFile(ALLOT_TEST_DATA "/kubernetes/jobs.json"))["items"][0];
    job["metadata"] = {{"name", name}, {"namespace", "default"}, {"annotations", annotations}};
    if (change) change(job);
    const Json made = server_.Create("jobs", job);
    return fmt::format("default.{}.{}", name,
                       made["metadata"]["uid"].get<std::string>().substr(0, 8));
  }

  void Look() {
    runtime_->Wait(0.01);
    try {
      seen_ = runtime_->TakeSnapshot();
      trouble_.clear();
    } catch (const Error& error) {
      trouble_ = error.what();
    }
  }
  template <typename Condition>
  void Until(const char* what, const Condition& condition) {
    for (int tries = 0; tries < 3000; ++tries) {
      Look();
      if (condition()) return;
    }
    FAIL() << "never came: " << what << " " << trouble_;
  }
  const RuntimeJob* FindJob(const std::string& id) const {
    for (const auto& job : seen_.jobs) {
      if (job->id == id) return job.get();
    }
    return nullptr;
  }
  const RuntimeWorker* FindWorker(const std::string& id) const {
    for (const RuntimeWorker& worker : seen_.workers) {
      if (worker.id == id) return &worker;
    }
    return nullptr;
  }
  bool IsIn(const std::string& job, JobState state) const {
    const RuntimeJob* found = FindJob(job);
    return found != nullptr && found->state == state;
  }
  bool HasEnded(const std::string& worker) const {
    const RuntimeWorker* found = FindWorker(worker);
    return found != nullptr && found->state == WorkerState::kEnded;
  }

  std::string SubmitAndSee(const std::string& name,
                           const Json& annotations = {{"allot.dev/max", "4"}},
                           const std::function<void(Json&)>& change = {}) {
    std::string job = Submit(name, annotations, change);
    Until("the job", [&] { return FindJob(job) != nullptr; });
    return job;
  }
  // One worker a node of `nodes`, from the number `from` on.
  std::vector<WorkerRequest> Requests(const std::string& job, const std::vector<std::string>& nodes,
                                      int from = 0) {
    std::vector<WorkerRequest> requests;
    requests.reserve(nodes.size());
    for (const std::string& node : nodes) {
      requests.push_back({fmt::format("{}.{}", job, from++), node, 1});
    }
    return requests;
  }
  void SetPod(const std::string& name, const Json& status, const std::string& node = "n1") {
    EXPECT_TRUE(server_.Update("pods", "default/" + name, [&](Json& pod) {
      pod["spec"]["nodeName"] = node;
      pod["status"] = status;
    }));
  }
  void SetNode(const std::string& name, const char* ready) {
    server_.Update("nodes", name,
                   [&](Json& node) { node["status"]["conditions"][0]["status"] = ready; });
  }
  Json StatusOf(const std::string& name) {
    return server_.Get("jobs", "default/" + name)["status"];
  }
  std::string EventsText() const {
    std::string text;
    server_.ForEach("events", [&](const Json& event) {
      text += event["involvedObject"]["name"].get<std::string>() + ": " +
              event["message"].get<std::string>() + "\n";
    });
    return text;
  }

  // What a worker's program has: where the daemon listens, and the token of the only Job.
  int PortOfWorkers() const {
    const std::string address = ReadTextFile((state_ / "address").string());
    return std::stoi(address.substr(address.rfind(':') + 1));
  }
  std::string TokenOfJob() const {
    std::string token;
    server_.ForEach("secrets", [&](const Json& secret) {
      token = secret["stringData"]["token"].get<std::string>();
    });
    return token;
  }

  FakeApiServer server_;
  std::filesystem::path state_;
  std::unique_ptr<KubernetesRuntime> runtime_;
  RuntimeSnapshot seen_;
  std::string trouble_;
  std::string lease_;                                // of the next Begin
  WorkerIdentity identity_ = WorkerIdentity::kAuto;  // the same
  std::filesystem::path token_file_;                 // the same
};

}  // namespace allot
