#include "live/runtimes/kubernetes/job_events.h"

#include <spdlog/spdlog.h>

#include <ctime>
#include <utility>

#include "clients/kubernetes/kube_time.h"
#include "live/runtimes/kubernetes/managed_request.h"

namespace allot {
namespace {

constexpr const char* kResolved = "Resolved";

}  // namespace

void JobEvents::Warn(const ManagedJob& job, const char* reason, const std::string& message) {
  Post(job, {"Warning", reason, message});
}

void JobEvents::Explain(const ManagedJob& job, const std::optional<JobTrouble>& trouble) {
  Posted& posted = posted_[job.uid];
  const bool was_explained = std::exchange(posted.explained, trouble.has_value());
  if (trouble) {
    posted.last.erase(kResolved);
    Warn(job, trouble->holds_gpus ? "WorkersNotJoined" : "NotRunning", trouble->why);
  } else if (was_explained) {
    posted.last.clear();  // what comes again is news
    Post(job, {"Normal", kResolved, "what was wrong with this job is over"});
  }
}

void JobEvents::Post(const ManagedJob& job, const JobEvent& event) {
  std::string& last = posted_[job.uid].last[event.reason];
  if (dry_run_ || last == event.message) return;
  last = event.message;
  const std::string events = CollectionPath(job.space, "api/v1", "events");
  const std::string now = KubeTimeText(std::time(nullptr));
  const nlohmann::json made = MakeJobEvent(job, event, now);
  KubeReply reply = writer_.Write(KubeRequest{"POST", events + kFieldManager, made});
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
  KubeReply reply = writer_.Write(KubeRequest{"PATCH", path, {{"lastTimestamp", now}}});
  if (!reply.ok()) return reply;
  return writer_.Write(KubeRequest{"PATCH", path, {{"count", reply.body.value("count", 1) + 1}}});
}

}  // namespace allot
