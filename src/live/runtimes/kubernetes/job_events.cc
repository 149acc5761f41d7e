#include "live/runtimes/kubernetes/job_events.h"

#include <spdlog/spdlog.h>

#include <ctime>
#include <utility>

#include "clients/kubernetes/kube_time.h"
#include "live/runtimes/kubernetes/kube_writer.h"
#include "live/runtimes/kubernetes/managed_request.h"

namespace allot {

void JobEvents::Warn(const ManagedJob& job, const char* reason, const std::string& message) {
  Post(job, {"Warning", reason, message});
}

void JobEvents::Explain(const ManagedJob& job, const std::optional<JobTrouble>& trouble) {
  const bool was_explained = std::exchange(posted_[job.uid].explained, trouble.has_value());
  if (trouble) {
    Warn(job, trouble->holds_gpus ? "WorkersNotJoined" : "NotRunning", trouble->why);
  } else if (was_explained) {
    Post(job, {"Normal", "Resolved", "what was wrong with this job is over"});
  }
}

void JobEvents::Post(const ManagedJob& job, const JobEvent& event) {
  std::string& last = posted_[job.uid].last;
  if (dry_run_ || last == event.message) return;
  last = event.message;
  const std::string events = CollectionPath(job.space, "api/v1", "events");
  const std::string now = KubeTimeText(std::time(nullptr));
  const nlohmann::json made = MakeJobEvent(job, event, now);
  KubeReply reply = client_.Do(KubeRequest{"POST", events + kFieldManager, made});
  if (reply.Is("AlreadyExists")) {
    const auto name = made.at("metadata").at("name").get<std::string>();
    reply = CountAgain(events + "/" + name + kFieldManager, now);
  }
  if (!reply.ok()) {
    spdlog::warn("job {}: the event '{}' cannot be written: {}", NameOfManagedJob(job),
                 event.message, reply.Text());
  }
}

// Counts an event again that was posted before, also by an earlier daemon; its last time sorts it
// after newer ones. The daemon may not read events, but the answer to a patch has the count.
KubeReply JobEvents::CountAgain(const std::string& path, const std::string& now) {
  KubeReply reply = client_.Do(KubeRequest{"PATCH", path, {{"lastTimestamp", now}}});
  if (!reply.ok()) return reply;
  return client_.Do(KubeRequest{"PATCH", path, {{"count", reply.body.value("count", 1) + 1}}});
}

}  // namespace allot
