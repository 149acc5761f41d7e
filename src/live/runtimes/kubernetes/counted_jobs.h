#pragma once
// Counted Jobs: Kubernetes' own controller runs their pods, and allot sets spec.parallelism. Only
// here does allot write into the spec of a Job. Used by KubernetesRuntime, from one thread; keeps
// the workers of all counted Jobs.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "clients/kubernetes/api/kube_client.h"
#include "live/runtimes/kubernetes/counted_workers.h"
#include "live/runtimes/kubernetes/job_events.h"
#include "live/runtimes/kubernetes/known_job.h"
#include "live/runtimes/kubernetes/kube_writer.h"
#include "live/runtimes/kubernetes/kubernetes_options.h"
#include "live/runtimes/kubernetes/shown_nodes.h"

namespace allot {

class CountedJobs {
 public:
  struct Cluster {  // all outlive the CountedJobs; stores are read under the client's mutex
    KubeClient& client;
    KubeWriter& writer;
    JobEvents& events;
    const ShownNodes& nodes;
    ObjectStore<ManagedJob>& jobs;
    const ObjectStore<WorkerPod>& pods;
  };
  CountedJobs(const KubernetesOptions& options, const Cluster& cluster);

  // Sets KnownJob::most_pods of these jobs, by all pods of the cluster. A job that needs no more of
  // them has finished.
  void CountPods(std::span<KnownJob* const> counted, const std::vector<WorkerPod>& pods) const;
  // Limits, type and mode of the Job, and who else sets its size. DataError as ReadCountedRequest.
  void ReadRequest(const KnownJob& known, RuntimeJob* job) const;
  // Shows the workers of these jobs beside those that are in `seen`, by all pods of the cluster,
  // and writes the size of those whose workers were stopped since: every patch of its size disturbs
  // a job.
  void ReadWorkers(std::span<KnownJob* const> counted, const std::vector<WorkerPod>& pods,
                   RuntimeSnapshot* seen);
  // As Runtime::Start and Runtime::Stop.
  Status Start(KnownJob& known, std::span<const WorkerRequest> workers);
  Status Stop(const KnownJob& known, const std::string& worker, StopMode mode);
  void Forget(const std::string& job) { workers_.erase(job); }

 private:
  void Match(const KnownJob& known, const std::vector<WorkerPod>& pods);
  void Shrink(KnownJob& known);
  Status WriteSize(KnownJob& known);
  Status TakeNewest(KnownJob& known, std::uint64_t* version);

  const KubernetesOptions& options_;
  const Cluster cluster_;
  std::map<std::string, CountedWorkers> workers_;  // by job, as the daemon names it
};

}  // namespace allot
