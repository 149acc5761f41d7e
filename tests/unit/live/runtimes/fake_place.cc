// The runtime of unit tests (tests/unit/live/fake_runtime.h): what the daemon's logic is tested on
// must behave as real runtimes do.

#include "tests/unit/live/fake_runtime.h"
#include "tests/unit/live/runtimes/runtime_place.h"

namespace allot {
namespace {

class FakePlace final : public RuntimePlace {
 public:
  FakePlace() : fake_(&time_) {
    fake_.strict = false;
    fake_.AddNode("n1", 4, "v100");
    fake_.AddNode("n2", 4, "k80");
  }

  Runtime& runtime() override { return fake_; }
  void EndDaemon() override {}  // the machines are all that it has
  void BeginDaemon() override {}

  std::string Submit(ResizeMode mode, GpuCount gpus, GpuCount most,
                     const std::string& types) override {
    RuntimeJob& job = fake_.AddJob(fmt::format("job{}", fake_.jobs.size()), gpus, gpus, most, mode);
    job.gpu_types = types;
    return job.id;
  }
  void Finish(const std::string& job) override { fake_.Finish(job); }
  void Kill(const std::string& worker) override { fake_.Kill(worker); }
  void ExitWithSuccess(const std::string& worker) override {
    fake_.End(worker, WorkerExit::kSuccess, "exit code 0");
  }
  bool CancelByUser(const std::string& job) override {
    fake_.jobs.at(job).job.state = JobState::kCancelled;
    return true;
  }
  bool SetNodeUp(const std::string& node, bool up) override {
    for (RuntimeNode& one : fake_.nodes) {
      if (one.name == node) one.state = up ? NodeState::kUp : NodeState::kDown;
    }
    return true;
  }

 private:
  FakeTime time_;
  FakeRuntime fake_;
};

ALLOT_REGISTER(RuntimePlaceInfo,
               (RuntimePlaceInfo{"fake", "no processes at all", [] { return std::string(); },
                                 [] { return std::make_unique<FakePlace>(); }}));

}  // namespace
}  // namespace allot
