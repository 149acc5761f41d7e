#pragma once
// Reports to users as events of their Jobs, which `kubectl describe job` shows. A text is posted
// once per Job and reason, until there is another one. Used by KubernetesRuntime.

#include <map>
#include <optional>
#include <string>

#include "live/runtimes/kubernetes/kube_objects.h"
#include "live/runtimes/kubernetes/kube_writer.h"
#include "live/runtimes/kubernetes/worker_spec.h"
#include "live/runtimes/runtime.h"

namespace allot {

class JobEvents {
 public:
  // `writer` outlives this. A dry run posts nothing.
  JobEvents(KubeWriter& writer, bool dry_run) : writer_(writer), dry_run_(dry_run) {}

  // `reason`: one word, "NotStarted". What cannot be posted is logged.
  void Warn(const ManagedJob& job, const char* reason, const std::string& message);
  void Explain(const ManagedJob& job,
               const std::optional<JobTrouble>& trouble);  // as Runtime::Explain
  void Forget(const ManagedJob& job) { posted_.erase(job.uid); }

 private:
  void Post(const ManagedJob& job, const JobEvent& event);
  KubeReply CountAgain(const std::string& path, const std::string& now);

  struct Posted {
    std::map<std::string, std::string> last;  // by reason
    bool explained = false;                   // what is wrong with it
  };

  KubeWriter& writer_;
  const bool dry_run_;
  std::map<std::string, Posted> posted_;  // by uid of the Job
};

}  // namespace allot
