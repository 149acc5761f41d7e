#include "live/status/user_view.h"

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

}  // namespace

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
