// The runtime "slurm" through each of its back ends, on a cluster that runs already: SLURM_CONF
// leads to it, and ALLOT_TEST_SLURM=1 says that it is one to play with.
// tests/integration/slurm_test.py starts one and runs the suite.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "tests/unit/live/runtimes/runtime_place.h"
#include "tests/unit/live/runtimes/worker_folders.h"

namespace allot {
namespace {

// Output of one of Slurm's programs. All words are ours: none needs quotes but the comment.
std::string Slurm(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw RunError("cannot run '{}': {}", command, SystemMessage());
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  if (status != 0) throw RunError("'{}' ended with {}: {}", command, status, output);
  return std::string(Trim(output));
}

class SlurmPlace final : public RuntimePlace {
 public:
  explicit SlurmPlace(std::string api) : api_(std::move(api)) { BeginDaemon(); }
  ~SlurmPlace() override {
    for (const auto& [job, number] : numbers_) {
      try {
        Slurm("scancel " + number);
      } catch (const Error&) {  // it is over
      }
    }
  }

  Runtime& runtime() override { return *runtime_; }
  void EndDaemon() override { runtime_.reset(); }
  void BeginDaemon() override {
    // The suite never takes the controller away: its answers may take long.
    runtime_ = MakeRuntime("slurm:launcher=" ALLOT_LAUNCHER ",timeout=60,api=" + api_,
                           {folders_.root() / "state"});
  }

  std::string Submit(ResizeMode mode, GpuCount gpus, GpuCount most,
                     const std::string& types) override {
    const auto folder = folders_.Make();
    const bool hot = mode == ResizeMode::kHot;
    const std::string program =
        fmt::format("{} {} {}", ALLOT_RUNTIME_WORKER, folder.string(), hot ? "hot" : "restart");
    WriteTextFile(
        folder / "job.sh",
        "#!/bin/sh\n" + (hot ? ALLOT_LAUNCHER " run -- " + program : "exec " + program) + "\n");
    const std::string comment =
        fmt::format("allot min={0} max={1} gpus={0}{2}{3}", gpus, most,
                    hot ? "" : " resize=restart", types.empty() ? "" : " types=" + types);
    const std::string number =
        Slurm(fmt::format("cd {0} && sbatch --parsable --comment='{1}' {2} job.sh", folder.string(),
                          comment, hot ? "" : fmt::format("--gres=gpu:{}", gpus)));
    for (int tries = 0; tries < 6000; ++tries) {
      const RuntimeSnapshot seen = runtime_->TakeSnapshot();
      for (const auto& job : seen.jobs) {
        if (!job->id.starts_with(number + "-")) continue;
        folders_.Name(job->id, folder);
        numbers_[job->id] = number;
        return job->id;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw RunError("job {} is not seen", number);
  }
  // Slurm runs a job that is resized by a restart itself.
  std::optional<std::string> Told(const std::string& job, const std::string& worker) override {
    const std::string told = folders_.Told(job, worker);
    return told.empty() ? folders_.Told(job, "job") : told;
  }
  void Finish(const std::string& job) override { folders_.Finish(job); }
  void Kill(const std::string& worker) override { folders_.Kill(worker); }
  void ExitWithSuccess(const std::string& worker) override { folders_.Exit(worker); }
  bool CancelByUser(const std::string& job) override {
    Slurm("scancel " + numbers_.at(job));
    return true;
  }
  bool SetNodeUp(const std::string& node, bool up) override {
    Slurm(fmt::format("scontrol update nodename={} {}", node,
                      up ? "state=resume" : "state=drain reason=test"));
    return true;
  }

 private:
  const std::string api_;
  WorkerFolders folders_;
  std::unique_ptr<Runtime> runtime_;
  std::map<std::string, std::string> numbers_;  // Slurm's, of jobs
};

std::string Missing() {
  if (std::getenv("ALLOT_TEST_SLURM") != nullptr) return "";
  return "needs a Slurm cluster: tests/integration/slurm_test.py starts one";
}

ALLOT_REGISTER(RuntimePlaceInfo,
               (RuntimePlaceInfo{"slurm", "a throw-away Slurm cluster, through libslurm", Missing,
                                 [] { return std::make_unique<SlurmPlace>("libslurm"); }}));
ALLOT_REGISTER(RuntimePlaceInfo,
               (RuntimePlaceInfo{"slurm_commands", "the same, through Slurm's programs", Missing,
                                 [] { return std::make_unique<SlurmPlace>("commands"); }}));

}  // namespace
}  // namespace allot
