// The runtime "kubernetes" on a control plane that runs already, one to play with:
// ALLOT_TEST_KUBERNETES leads to its folder. tests/integration/kubernetes_test.py starts one
// (tests/live/control_plane.py) and runs the suite.

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "auth/secret.h"
#include "clients/kubernetes/api/kube_client.h"
#include "tests/unit/live/runtimes/runtime_place.h"
#include "tests/unit/live/runtimes/worker_folders.h"

namespace allot {
namespace {

using Json = nlohmann::json;

constexpr const char* kFolderVariable = "ALLOT_TEST_KUBERNETES";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";

std::filesystem::path ControlPlaneFile(const char* name) {
  return std::filesystem::path(std::getenv(kFolderVariable)) / name;
}

class LiveKubernetesPlace final : public RuntimePlace {
 public:
  LiveKubernetesPlace()
      : admin_(ReadKubeConfig(ControlPlaneFile("admin.kubeconfig"), ""), 60, {}, {}) {
    BeginDaemon();
  }
  ~LiveKubernetesPlace() override {
    for (const auto& [id, name] : names_) (void)DeleteJob(name);
  }

  Runtime& runtime() override { return *runtime_; }
  void EndDaemon() override { runtime_.reset(); }
  void BeginDaemon() override {
    runtime_ = MakeRuntime(fmt::format("kubernetes:kubeconfig={},timeout=8",
                                       ControlPlaneFile("allot.kubeconfig").string()),
                           {folders_.root() / "state"});
  }

  std::string Submit(ResizeMode mode, GpuCount gpus, GpuCount most,
                     const std::string& types) override {
    const auto folder = folders_.Make();
    const bool hot = mode == ResizeMode::kHot;
    const std::string name = "job-" + NewToken().substr(0, 8);  // a pod of another test may end yet
    Json notes = {{"allot.dev/min", std::to_string(gpus)},
                  {"allot.dev/max", std::to_string(most)},
                  {"allot.dev/resize", hot ? "hot" : "restart"}};
    if (!types.empty()) notes["allot.dev/types"] = types;
    const Json container = {
        {"name", "w"},
        {"image", "none"},
        {"command", {ALLOT_RUNTIME_WORKER, folder.string(), hot ? "hot" : "restart"}},
        {"env", {{{"name", "ALLOT_RUN_DIR"}, {"value", folder.string()}}}},
        {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}};
    const KubeReply made = admin_.Do(KubeRequest{
        "POST",
        kJobs,
        {{"metadata", {{"name", name}, {"annotations", notes}}},
         {"spec",
          {{"managedBy", "allot.dev/scheduler"},
           {"template",
            {{"spec",
              {{"restartPolicy", "Never"}, {"containers", Json::array({container})}}}}}}}}});
    if (!made.ok()) throw RunError("job {}: {}", name, made.Text());
    std::string id = fmt::format("default.{}.{}", name,
                                 made.body["metadata"]["uid"].get<std::string>().substr(0, 8));
    folders_.Name(id, folder);
    names_[id] = name;
    return id;
  }
  std::optional<std::string> Told(const std::string& job, const std::string& worker) override {
    return folders_.Told(job, worker);
  }
  void Finish(const std::string& job) override { folders_.Finish(job); }
  void Kill(const std::string& worker) override { folders_.Kill(worker); }
  void ExitWithSuccess(const std::string& worker) override { folders_.Exit(worker); }
  bool CancelByUser(const std::string& job) override { return DeleteJob(names_.at(job)).ok(); }
  bool SetNodeUp(const std::string& node, bool up) override {
    return admin_
        .Do(KubeRequest{"PATCH", "/api/v1/nodes/" + node, {{"spec", {{"unschedulable", !up}}}}})
        .ok();
  }

 private:
  KubeReply DeleteJob(const std::string& name) {
    return admin_.Do(KubeRequest{
        "DELETE", fmt::format("{}/{}", kJobs, name), {{"propagationPolicy", "Background"}}});
  }

  WorkerFolders folders_;
  KubeClient admin_;
  std::unique_ptr<Runtime> runtime_;
  std::map<std::string, std::string> names_;  // the Job's, by the daemon's
};

ALLOT_REGISTER(
    RuntimePlaceInfo,
    (RuntimePlaceInfo{
        "kubernetes_live", "a throw-away Kubernetes control plane",
        []() -> std::string {
          if (std::getenv(kFolderVariable) != nullptr) return "";
          return "needs a control plane: tests/integration/kubernetes_test.py starts one";
        },
        [] { return std::make_unique<LiveKubernetesPlace>(); }}));

}  // namespace
}  // namespace allot
