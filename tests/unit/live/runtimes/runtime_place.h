#pragma once
// Where the runtime conformance suite (conformance_test.cc) runs: a cluster with users and GPUs of
// two types or more, in which the suite stands in for the daemon. A new runtime adds a file
// <name>_place.cc that registers one.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/registry.h"
#include "live/runtimes/runtime.h"

namespace allot {

class RuntimePlace {
 public:
  virtual ~RuntimePlace() = default;

  // Of the present daemon.
  virtual Runtime& runtime() = 0;
  // The daemon is gone, as after kill -9; what runs goes on. Then another begins.
  virtual void EndDaemon() = 0;
  virtual void BeginDaemon() = 0;

  // A user submits a job that trains until it is told otherwise. The runtime's name of it.
  // `types`: of GPUs that it accepts ("v100|k80"); "": any.
  virtual std::string Submit(ResizeMode mode, GpuCount gpus, GpuCount most,
                             const std::string& types) = 0;
  // Its work is done: its program finishes.
  virtual void Finish(const std::string& job) = 0;
  // A worker of a hot job dies by SIGKILL, or ends with exit code 0 for no reason.
  virtual void Kill(const std::string& worker) = 0;
  virtual void ExitWithSuccess(const std::string& worker) = 0;

  // What the latest start of a worker of this job found in its environment (tests/tools/
  // runtime_worker.cc): "ALLOT_GPU_TYPE CUDA_VISIBLE_DEVICES"; "": nothing yet. nullopt: the place
  // has no processes.
  virtual std::optional<std::string> Told(const std::string& /*job*/,
                                          const std::string& /*worker*/) {
    return std::nullopt;
  }

  // By the cluster's own means. False: the runtime has none.
  virtual bool CancelByUser(const std::string& /*job*/) { return false; }
  virtual bool SetNodeUp(const std::string& /*node*/, bool /*up*/) { return false; }
};

struct RuntimePlaceInfo {
  std::string id;  // of the runtime
  std::string summary;
  std::function<std::string()> missing;  // why it cannot run here; "": it can
  std::function<std::unique_ptr<RuntimePlace>()> make;
};

}  // namespace allot
