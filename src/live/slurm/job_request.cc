#include "live/slurm/job_request.h"

#include <optional>
#include <vector>

#include "core/error.h"
#include "live/slurm/job_comment.h"
#include "live/slurm/slurm_tags.h"

namespace allot {

void ReadRequest(const SlurmJob& slurm, RuntimeJob* job) {
  const std::vector<GresGpus> asked = ParseGres(slurm.gpus);
  const GresGpus gres = asked.empty() ? GresGpus{} : asked.front();
  const std::optional<JobOptions> comment = ParseJobComment(slurm.comment);
  if (comment) {
    comment->WriteTo(job);
  } else {
    job->mode = ResizeMode::kRestart;
    const std::int64_t gpus = std::int64_t{gres.count} * slurm.nodes_asked;
    if (gpus > kMostGpusAsked) {
      throw DataError("a job must ask for at most {} GPUs, got {} on each of {} nodes",
                      kMostGpusAsked, gres.count, slurm.nodes_asked);
    }
    job->requested = static_cast<GpuCount>(gpus);
    job->min_gpus = job->max_gpus = job->requested;
  }
  // Nobody stops a job whose user knows nothing of allot, or does not want it to run twice.
  if (job->mode == ResizeMode::kRestart) {
    job->preempt = comment && comment->preempt && slurm.requeue;
  }
  if (!slurm.tasks.empty())
    throw DataError("job arrays are not placed: submit the jobs one by one");
  if (slurm.part) {
    throw DataError("heterogeneous jobs are not placed: submit their parts as jobs of their own");
  }
  // Slurm would give these beside what allot gives.
  if (!slurm.other_gpus.empty()) {
    throw DataError(
        "a job must ask for GPUs by --gres=gpu:N or in its comment, not by --gpus, "
        "--gpus-per-task or --gpus-per-socket, got '{}'",
        slurm.other_gpus);
  }
  if (slurm.exclusive) {
    throw DataError("a job gets GPUs, not whole nodes: submit it without --exclusive");
  }
  if (asked.size() > 1) {
    throw DataError(
        "a job must ask for GPUs of one type, or of none (--gres=gpu:N) and name those that it "
        "accepts in its comment (types=a|b), got '{}'",
        slurm.gpus);
  }
  if (comment && job->mode == ResizeMode::kHot && gres.count > 0) {
    throw DataError("an elastic job must ask for GPUs in its comment (gpus={}{}), not by --gres {}",
                    gres.count, gres.type.empty() ? "" : " types=" + gres.type, slurm.gpus);
  }
  // Slurm runs a job on no other type than the one that it was submitted with (ADR 36).
  if (!gres.type.empty() && !job->gpu_types.empty() && job->gpu_types != gres.type) {
    throw DataError(
        "a job that names types in its comment must ask for GPUs without one (--gres=gpu:{}), got "
        "types={} and '{}'",
        gres.count, job->gpu_types, slurm.gpus);
  }
  if (!gres.type.empty()) job->gpu_types = GpuTypesFrom(gres.type, "the type of --gres");
  if (job->requested < 1) {
    throw DataError("a job must ask for GPUs, by --gres=gpu:N or a comment 'allot min=.. max=..'");
  }
}

}  // namespace allot
