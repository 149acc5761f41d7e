#pragma once
// The cluster's scheduler and the kubelets of all nodes of a fake API server, without containers:
// a pod that may go to one node only, and fits there, becomes a process group of this machine with
// the first container's command and environment.

#include <memory>

#include "tests/unit/live/runtimes/kubernetes/fake_apiserver.h"

namespace allot {

class FakeKubelet {
 public:
  explicit FakeKubelet(FakeApiServer& server);  // which outlives it
  ~FakeKubelet();                               // kills what runs
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
