#pragma once
// A Job as the Kubernetes runtime knows it: its object, what that asks for, and what has become of
// it. Shared by KubernetesRuntime and CountedJobs.

#include <optional>
#include <string>

#include "live/runtimes/kubernetes/job_status.h"
#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/runtime.h"

namespace allot {

struct KnownJob {
  ManagedJob kube;
  RuntimeJob job;
  RuntimeJob asked;        // what its Job says, whatever became of it
  bool fresh = true;       // its Job has changed since that was read
  bool admitted = false;   // its workers may join
  bool gone = false;       // its Job is deleted
  bool forgotten = false;  // by the daemon
  bool has_secret = false;
  std::optional<JobEnd> end;          // that it is to have, or has
  std::optional<GpuCount> most_pods;  // of a counted Job (counted_job.h)
  int active = 0;                     // pods
  int ready = 0;
  std::string refusal;  // of the last write of its status; "": none
};

}  // namespace allot
