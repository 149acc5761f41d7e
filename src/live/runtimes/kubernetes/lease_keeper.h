#pragma once
// Keeps a Lease of the API renewed, in a thread of its own (lease_claim.h): a daemon that waits for
// it is a standby. Who loses it ends, so that whoever starts it again starts a standby; it is given
// back at the end, so that the next one need not wait.

#include <functional>
#include <memory>
#include <string>

#include "clients/kubernetes/api/kube_config.h"
#include "live/runtimes/lease_claim.h"

namespace allot {

class LeaseKeeper {
 public:
  // `lease` is "NAMESPACE/NAME", otherwise UsageError; it is created if necessary. The thread calls
  // `on_wait` with the reason for waiting, whenever that changes.
  LeaseKeeper(const KubeConfig& config, const std::string& lease, const LeaseTiming& timing,
              std::function<void(const std::string& why)> on_wait = {});
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // Returns once it is ours. Error with ExitCode::kInterrupted when the user ends the program.
  void WaitUntilHeld() const;
  // We may write: nobody else can have it yet. Any thread.
  bool held() const;

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace allot
