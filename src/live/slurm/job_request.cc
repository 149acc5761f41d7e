#include "live/slurm/job_request.h"

#include <optional>

#include "core/error.h"
#include "live/slurm/job_comment.h"
#include "live/slurm/slurm_tags.h"

namespace allot {

void ReadRequest(const SlurmJob& slurm, RuntimeJob* job) {
  const GresGpus gres = ParseGres(slurm.gpus);
  const std::optional<JobComment> comment = ParseJobComment(slurm.comment);
  if (comment) {
    job->min_gpus = comment->min_gpus;
    job->max_gpus = comment->max_gpus;
    job->requested = comment->requested;
    job->mode = comment->mode;
    job->model = comment->model;
    job->total_work = comment->total_work;
  } else {
    job->mode = ResizeMode::kRestart;
    job->requested = gres.count * static_cast<GpuCount>(slurm.nodes_asked);
    job->min_gpus = job->max_gpus = job->requested;
  }
  if (slurm.array) throw DataError("job arrays are not placed: submit the jobs one by one");
  if (!gres.type.empty()) {
    throw DataError("GPUs must be asked for without a type (allot chooses it), got '{}'",
                    slurm.gpus);
  }
  if (comment && job->mode == ResizeMode::kHot && gres.count > 0) {
    throw DataError("an elastic job must ask for GPUs in its comment (gpus={}), not by --gres {}",
                    gres.count, slurm.gpus);
  }
  if (job->requested < 1) {
    throw DataError("a job must ask for GPUs, by --gres=gpu:N or a comment 'allot min=.. max=..'");
  }
}

}  // namespace allot
