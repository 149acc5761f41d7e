// The runtime "local": real processes on this machine.

#include <nlohmann/json.hpp>

#include "tests/unit/live/runtimes/runtime_place.h"
#include "tests/unit/live/runtimes/worker_folders.h"

namespace allot {
namespace {

class LocalPlace final : public RuntimePlace {
 public:
  LocalPlace() { BeginDaemon(); }

  Runtime& runtime() override { return *runtime_; }
  void EndDaemon() override { runtime_.reset(); }
  void BeginDaemon() override {
    runtime_ = MakeRuntime(fmt::format("local:cluster=1x4:v100|1x4:k80,spool={}", Spool().string()),
                           {folders_.root() / "state"});
  }

  std::string Submit(ResizeMode mode, GpuCount gpus, GpuCount most,
                     const std::string& types) override {
    const auto folder = folders_.Make();
    std::string job = folder.filename().string();
    const char* resize = mode == ResizeMode::kHot ? "hot" : "restart";
    const nlohmann::json command = {ALLOT_RUNTIME_WORKER, folder.string(), resize};
    WriteTextFile(Spool() / (job + ".toml"),
                  fmt::format("[[job]]\nname = \"{}\"\ngpus = {}\nmin = {}\nmax = {}\n"
                              "resize = \"{}\"\ncommand = {}\n{}",
                              job, gpus, gpus, most, resize, command.dump(),
                              types.empty() ? "" : fmt::format("types = \"{}\"\n", types)));
    folders_.Name(job, folder);
    return job;
  }
  std::optional<std::string> Told(const std::string& job, const std::string& worker) override {
    return folders_.Told(job, worker);
  }
  void Finish(const std::string& job) override { folders_.Finish(job); }
  void Kill(const std::string& worker) override { folders_.Kill(worker); }
  void ExitWithSuccess(const std::string& worker) override { folders_.Exit(worker); }

 private:
  std::filesystem::path Spool() const { return folders_.root() / "spool"; }

  WorkerFolders folders_;
  std::unique_ptr<Runtime> runtime_;
};

ALLOT_REGISTER(RuntimePlaceInfo,
               (RuntimePlaceInfo{"local", "processes on this machine", [] { return std::string(); },
                                 [] { return std::make_unique<LocalPlace>(); }}));

}  // namespace
}  // namespace allot
