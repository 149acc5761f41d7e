#include "live/status/user_view.h"

#include <utility>
#include <vector>

namespace allot {
namespace {

JobStatus WithoutOwner(const JobStatus& job) {
  JobStatus shown;
  shown.name = kOthersJob;
  shown.stage = job.stage;
  shown.allocated_gpus = job.allocated_gpus;
  shown.worker_gpus = job.worker_gpus;
  shown.requested_gpus = job.requested_gpus;
  shown.min_gpus = job.min_gpus;
  shown.max_gpus = job.max_gpus;
  shown.gpu_type = job.gpu_type;
  shown.accepted_types = job.accepted_types;
  shown.nodes = job.nodes;
  shown.age = job.age;
  shown.waited = job.waited;
  return shown;
}

void WithoutOthers(std::string_view user, std::vector<JobsInTheWay>* jobs) {
  JobsInTheWay others{std::string(kOthersJob)};
  for (const JobsInTheWay& each : *jobs) {
    if (each.user == user) continue;
    others.jobs += each.jobs;
    others.gpus += each.gpus;
  }
  std::erase_if(*jobs, [user](const JobsInTheWay& each) { return each.user != user; });
  if (others.jobs > 0) jobs->push_back(std::move(others));
}

}  // namespace

Quote ViewFor(std::string_view user, Quote quote) {
  WithoutOthers(user, &quote.running);
  WithoutOthers(user, &quote.waiting);
  return quote;
}

DaemonStatus ViewFor(std::string_view user, const DaemonStatus& status) {
  DaemonStatus view = status;
  for (JobStatus& job : view.jobs) {
    if (job.user != user) job = WithoutOwner(job);
  }
  for (NodeStatus& node : view.nodes) {  // others' jobs accuse it, too
    if (node.suspicion) node.suspicion->jobs.clear();
    if (node.why) node.why = "it fails jobs, or has lost GPUs";
  }
  return view;
}

}  // namespace allot
