// The runtime "kubernetes": an API server in this process (tests/unit/live/runtimes/kubernetes),
// whose pods are processes of this machine. Nodes and Jobs are those that a real one has recorded.

#include <nlohmann/json.hpp>

#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"
#include "tests/unit/live/runtimes/kubernetes/fake_kubelet.h"
#include "tests/unit/live/runtimes/runtime_place.h"
#include "tests/unit/live/runtimes/worker_folders.h"

namespace allot {
namespace {

using Json = nlohmann::json;

Json Recorded(const char* name) {
  return Json::parse(ReadTextFile(ALLOT_TEST_DATA "/kubernetes/" + std::string(name)));
}

class KubernetesPlace final : public RuntimePlace {
 public:
  KubernetesPlace() : kubelet_(server_) {
    server_.Restrict(ALLOT_SOURCE_DIR "/deploy/kubernetes/rights.yaml");
    const Json nodes = Recorded("nodes.json");
    for (const Json& node : nodes.at("items")) server_.Create("nodes", node);
    WriteTextFile(KubeConfigFile(),
                  fmt::format("current-context: test\n"
                              "contexts: [{{name: test, context: {{cluster: fake}}}}]\n"
                              "clusters: [{{name: fake, cluster: {{server: '{}'}}}}]\n",
                              server_.url()));
    BeginDaemon();
  }

  Runtime& runtime() override { return *runtime_; }
  void EndDaemon() override { runtime_.reset(); }
  void BeginDaemon() override {
    runtime_ = MakeRuntime(fmt::format("kubernetes:kubeconfig={}", KubeConfigFile().string()),
                           {folders_.root() / "state"});
  }

  std::string Submit(ResizeMode mode, GpuCount gpus, GpuCount most,
                     const std::string& types) override {
    const auto folder = folders_.Make();
    const bool hot = mode == ResizeMode::kHot;
    Json job = Recorded("jobs.json").at("items")[0];
    const std::string name = folder.filename().string();
    job["metadata"] = {{"name", name},
                       {"namespace", "default"},
                       {"annotations",
                        {{"allot.dev/min", std::to_string(gpus)},
                         {"allot.dev/max", std::to_string(most)},
                         {"allot.dev/resize", hot ? "hot" : "restart"}}}};
    if (!types.empty()) job["metadata"]["annotations"]["allot.dev/types"] = types;
    Json& container = job["spec"]["template"]["spec"]["containers"][0];
    container["command"] = {ALLOT_RUNTIME_WORKER, folder.string(), hot ? "hot" : "restart"};
    container["env"] = {{{"name", "ALLOT_RUN_DIR"}, {"value", folder.string()}}};
    const Json created = server_.Create("jobs", job);
    std::string id = fmt::format("default.{}.{}", name,
                                 created["metadata"]["uid"].get<std::string>().substr(0, 8));
    folders_.Name(id, folder);
    names_[id] = "default/" + name;
    return id;
  }
  std::optional<std::string> Told(const std::string& job, const std::string& worker) override {
    return folders_.Told(job, worker);
  }
  void Finish(const std::string& job) override { folders_.Finish(job); }
  void Kill(const std::string& worker) override { folders_.Kill(worker); }
  void ExitWithSuccess(const std::string& worker) override { folders_.Exit(worker); }
  bool CancelByUser(const std::string& job) override {
    server_.Remove("jobs", names_.at(job));
    return true;
  }
  bool SetNodeUp(const std::string& node, bool up) override {
    return server_.Update("nodes", node, [&](Json& object) {
      object["spec"] = up ? Json::object() : Json{{"unschedulable", true}};
    });
  }

 private:
  std::filesystem::path KubeConfigFile() const { return folders_.root() / "kubeconfig"; }

  WorkerFolders folders_;
  FakeApiServer server_;
  FakeKubelet kubelet_;
  std::unique_ptr<Runtime> runtime_;
  std::map<std::string, std::string> names_;  // the Job's, by the daemon's
};

ALLOT_REGISTER(RuntimePlaceInfo,
               (RuntimePlaceInfo{"kubernetes", "an API server in this process",
                                 [] { return std::string(); },
                                 [] { return std::make_unique<KubernetesPlace>(); }}));

}  // namespace
}  // namespace allot
