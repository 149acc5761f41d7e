#include "tests/unit/live/runtimes/kubernetes/fake_kubelet.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "clients/kubernetes/kube_time.h"
#include "core/file.h"
#include "tests/unit/live/runtimes/kubernetes/fake_objects.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;
using SteadyTime = std::chrono::steady_clock::time_point;

constexpr const char* kGpu = "nvidia.com/gpu";

int GpusAskedBy(const Json& pod) {
  const Json limits =
      pod.at("spec").at("containers")[0].value("/resources/limits"_json_pointer, Json::object());
  return limits.contains(kGpu) ? std::stoi(limits.at(kGpu).get<std::string>()) : 0;
}

// That its affinity names.
std::string OnlyNodeOf(const Json& pod) {
  const Json terms = pod.at("spec").value(
      "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"_json_pointer,
      Json::array());
  if (terms.size() != 1) return "";
  const Json& field = terms[0].at("matchFields")[0];
  return field.at("key") == "metadata.name" ? field.at("values")[0].get<std::string>() : "";
}

std::filesystem::path NewFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "allot-kubelet-XXXXXX").string();
  return ::mkdtemp(pattern.data());
}

std::string TimeNow() { return KubeTimeText(std::time(nullptr)); }

std::string KeyOf(const Json& pod) {
  return pod["metadata"]["namespace"].get<std::string>() + "/" +
         pod["metadata"]["name"].get<std::string>();
}

}  // namespace

struct FakeKubelet::Impl {
  struct Process {
    pid_t pid = 0;
    std::string key;
    std::string node;
    std::set<int> gpus;
    bool asked = false;  // by SIGTERM
    SteadyTime kill_at{};
  };

  explicit Impl(FakeApiServer& api)
      : server(api), volumes(NewFolder()), thread([this] { Run(); }) {}
  ~Impl() {
    over = true;
    thread.join();
    for (const auto& [uid, process] : processes) {
      ::kill(-process.pid, SIGKILL);
      ::waitpid(process.pid, nullptr, 0);
    }
    std::filesystem::remove_all(volumes);
  }

  void Run() {
    while (!over) {
      std::vector<Json> pods;
      server.ForEach("pods", [&](const Json& pod) { pods.push_back(pod); });
      for (const Json& pod : pods) Look(pod);
      Reap();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  void Look(const Json& pod) {
    const std::string uid = pod["metadata"]["uid"];
    const auto running = processes.find(uid);
    const bool deleting = pod["metadata"].contains("deletionTimestamp");
    if (running != processes.end()) {
      if (deleting) EndSoon(pod, running->second);
      return;
    }
    if (IsOnNode(pod)) {
      if (deleting) server.Remove("pods", KeyOf(pod));  // never begun
      return;
    }
    if (pod.value("/status/phase"_json_pointer, "") != "Pending") return;
    const std::string node = OnlyNodeOf(pod);
    const std::set<int> gpus = FreeGpus(node, GpusAskedBy(pod));
    if (static_cast<int>(gpus.size()) == GpusAskedBy(pod)) Begin(pod, node, gpus);
  }

  std::set<int> FreeGpus(const std::string& node, int wanted) const {
    const Json object = server.Get("nodes", node);
    if (object.is_null() || object["spec"].value("unschedulable", false)) return {};
    const int all = std::stoi(object["status"]["allocatable"][kGpu].get<std::string>());
    std::set<int> free;
    for (int gpu = 0; gpu < all && static_cast<int>(free.size()) < wanted; ++gpu) {
      bool used = false;
      for (const auto& [uid, process] : processes) {
        used = used || (process.node == node && process.gpus.contains(gpu));
      }
      if (!used) free.insert(gpu);
    }
    return free;
  }

  void Begin(const Json& pod, const std::string& node, const std::set<int>& gpus) {
    const Json& container = pod["spec"]["containers"][0];
    std::vector<std::string> environment = EnvironmentOf(pod, container);
    std::string visible;
    for (const int gpu : gpus) visible += (visible.empty() ? "" : ",") + std::to_string(gpu);
    environment.push_back("CUDA_VISIBLE_DEVICES=" + visible);  // as the device plugin does
    std::vector<std::string> command = container.at("command").get<std::vector<std::string>>();
    std::vector<char*> words, variables;
    for (std::string& word : command) words.push_back(word.data());
    for (std::string& variable : environment) variables.push_back(variable.data());
    words.push_back(nullptr);
    variables.push_back(nullptr);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    Process process{0, KeyOf(pod), node, gpus, false, {}};
    posix_spawn_file_actions_t
        files;  // none of ours: a connection of the daemon's would outlive it
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    const int error =
        ::posix_spawn(&process.pid, words[0], &files, &attributes, words.data(), variables.data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    server.Update("pods", process.key, [&](Json& object) {
      object["spec"]["nodeName"] = node;
      object["status"]["phase"] = error == 0 ? "Running" : "Failed";
      object["status"]["startTime"] = TimeNow();
      object["status"]["containerStatuses"] = {
          {{"name", "w"}, {"state", {{"running", {{"startedAt", TimeNow()}}}}}}};
    });
    if (error == 0) processes[pod["metadata"]["uid"]] = std::move(process);
  }

  std::vector<std::string> EnvironmentOf(const Json& pod, const Json& container) const {
    std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
    for (const Json& variable : container.value("env", Json::array())) {
      std::string value = variable.value("value", "");
      if (variable.contains("valueFrom")) {
        const Json& from = variable["valueFrom"]["secretKeyRef"];
        const std::string space = pod["metadata"]["namespace"];
        const Json secret = server.Get("secrets", space + "/" + from["name"].get<std::string>());
        value = secret["stringData"][from["key"].get<std::string>()].get<std::string>();
      }
      if (variable["name"] == "ALLOT_IDENTITY_FILE") {  // there are no volumes here
        const std::string uid = pod["metadata"]["uid"];
        value = (volumes / uid).string();
        WriteTextFile(value, FakeToken(uid) + "\n");
      }
      environment.push_back(variable["name"].get<std::string>() + "=" + value);
    }
    return environment;
  }

  static void EndSoon(const Json& pod, Process& process) {
    const int grace = pod["metadata"]["deletionGracePeriodSeconds"];
    const SteadyTime latest = std::chrono::steady_clock::now() + std::chrono::seconds(grace);
    if (!process.asked) {
      ::kill(-process.pid, SIGTERM);
      process.kill_at = latest;
    }
    process.asked = true;
    process.kill_at = std::min(process.kill_at, latest);
    if (std::chrono::steady_clock::now() > process.kill_at) ::kill(-process.pid, SIGKILL);
  }

  void Reap() {
    for (auto it = processes.begin(); it != processes.end();) {
      int status = 0;
      if (::waitpid(it->second.pid, &status, WNOHANG) != it->second.pid) {
        ++it;
        continue;
      }
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      const std::string key = it->second.key;
      bool deleting = false;
      server.Update("pods", key, [&](Json& pod) {
        deleting = pod["metadata"].contains("deletionTimestamp");
        pod["status"]["phase"] = code == 0 ? "Succeeded" : "Failed";
        pod["status"]["containerStatuses"] = {
            {{"name", "w"},
             {"state",
              {{"terminated",
                {{"exitCode", code},
                 {"reason", code == 0 ? "Completed" : "Error"},
                 {"startedAt", pod["status"].value("startTime", TimeNow())},
                 {"finishedAt", TimeNow()}}}}}}};
      });
      if (deleting) server.Remove("pods", key);
      it = processes.erase(it);
    }
  }

  FakeApiServer& server;
  const std::filesystem::path volumes;
  std::map<std::string, Process> processes;  // by uid of the pod
  std::atomic<bool> over{false};
  std::thread thread;
};

FakeKubelet::FakeKubelet(FakeApiServer& server) : impl_(std::make_unique<Impl>(server)) {}
FakeKubelet::~FakeKubelet() = default;

}  // namespace allot
