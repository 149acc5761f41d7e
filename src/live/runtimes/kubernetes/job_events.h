#pragma once
// What users are told of their Jobs: events of the API, which `kubectl describe job` shows. The
// same text of a Job is posted once, until there is another. Used by KubernetesRuntime.

#include <map>
#include <optional>
#include <string>

#include "clients/kubernetes/api/kube_client.h"
#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/kubernetes/worker_spec.h"
#include "live/runtimes/runtime.h"

namespace allot {

class JobEvents {
 public:
  // `client` outlives this. A dry run posts nothing.
  JobEvents(KubeClient& client, bool dry_run) : client_(client), dry_run_(dry_run) {}

  // `reason`: one word, "NotStarted". What cannot be posted is logged.
  void Warn(const ManagedJob& job, const char* reason, const std::string& message);
  void Explain(const ManagedJob& job,
               const std::optional<JobTrouble>& trouble);  // as Runtime::Explain
  void Forget(const ManagedJob& job) { told_.erase(job.uid); }

 private:
  void Post(const ManagedJob& job, const JobEvent& event);
  KubeReply CountAgain(const std::string& path, const std::string& now);

  struct Told {
    std::string last;
    bool explained = false;  // what is wrong with it
  };

  KubeClient& client_;
  const bool dry_run_;
  std::map<std::string, Told> told_;  // by uid of the Job
};

}  // namespace allot
