#pragma once
// The workers of a Job that Kubernetes' own controller runs: allot says how many, in
// spec.parallelism (counted_job.h). A worker is a claim on one pod; which one does not matter. Pods
// that come, go and are replaced are matched with claims at every poll: claims that stay get
// the pods that stay, claims that were stopped those that end, and live for as long as these. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/runtime.h"

namespace allot {

// GPUs that are held, by node; a mask each.
using GpusOfNodes = std::map<std::string, std::uint64_t>;

class CountedWorkers {
 public:
  // Those that are there before this daemon asks for any.
  void Begin(const std::string& job, std::span<const std::int64_t> numbers);
  bool begun() const { return begun_; }

  void Add(std::span<const WorkerRequest> workers);       // those that are there already: nothing
  void Withdraw(std::span<const WorkerRequest> workers);  // as if they had not been asked for
  void Stop(const std::string& worker);                   // one of its pods is to end
  void StopAll();
  // They are nobody's any more, whatever their pods do; then it may begin anew.
  void LetGo(const std::string& reason);

  bool Has(const std::string& worker) const { return claims_.contains(worker); }
  GpuCount wanted() const;                                            // that were not stopped
  std::vector<std::int64_t> numbers() const;                          // of these, ascending
  bool Holds(const std::string& pod) const;                           // uid, when last matched
  std::optional<std::string> PodOf(const std::string& worker) const;  // uid; nullopt: none

  // `pods`: of the Job, that have not ended. Workers that would be more than `most` and have no pod
  // have ended, because their Job runs no pod for them.
  void Match(const std::vector<WorkerPod>& pods, std::optional<GpuCount> most);
  // GPUs on the nodes where pods are. First all jobs keep what they have, then new pods take of
  // what is left.
  void KeepGpus(GpusOfNodes* held);
  void TakeGpus(GpusOfNodes* held);
  // Those that have ended are shown once.
  void Show(std::vector<RuntimeWorker>* workers);

 private:
  struct Claim {
    RuntimeWorker seen;
    std::uint64_t wish = 0;  // GPU
    std::string wish_node;   // "": none
    std::string pod;         // uid; "": none
    bool stopped = false;
  };
  void See(const WorkerPod* pod, Claim* claim) const;

  bool begun_ = false;
  std::map<std::string, Claim> claims_;  // by worker
};

}  // namespace allot
