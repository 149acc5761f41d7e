#include "live/runtimes/slurm/job_request.h"

#include <string_view>
#include <vector>

#include "clients/slurm/resources.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/runtimes/job_options.h"
#include "live/runtimes/slurm/job_comment.h"

namespace allot {
namespace {

// Parts of GPUs that Slurm may give beside other parts of the same ones.
bool SharesGpus(const std::string& gres) {
  for (std::string_view item : Split(gres, ',')) {
    if (item.starts_with("gres:")) item.remove_prefix(5);
    const std::string_view name = item.substr(0, item.find(':'));
    if (name == "shard" || name == "mps") return true;
  }
  return false;
}

}  // namespace

void ReadRequest(const SlurmJob& slurm, RuntimeJob* job) {
  const std::vector<SlurmGpuType> asked = GpuTypesOfGres(slurm.gpus);
  const SlurmGpuType gres = asked.empty() ? SlurmGpuType{} : asked.front();
  const bool commented = ReadJobComment(slurm.comment, job);
  if (!commented) {
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
    job->preempt = commented && job->preempt && slurm.requeue;
  }
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
  if (SharesGpus(slurm.gpus)) {
    throw DataError(
        "a job gets GPUs of its own, or parts that are GPUs of a type of their own, as those of "
        "MIG are (--gres=gpu:N), not some that others use at the same time, got '{}'",
        slurm.gpus);
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
  if (commented && job->mode == ResizeMode::kHot && gres.count > 0) {
    throw DataError("an elastic job must ask for GPUs in its comment (gpus={}{}), not by --gres {}",
                    gres.count, gres.name.empty() ? "" : " types=" + gres.name, slurm.gpus);
  }
  // Slurm runs a job on no other type than the one that it was submitted with (ADR 36).
  if (!gres.name.empty() && !job->gpu_types.empty() && job->gpu_types != gres.name) {
    throw DataError(
        "a job that names types in its comment must ask for GPUs without one (--gres=gpu:{}), got "
        "types={} and '{}'",
        gres.count, job->gpu_types, slurm.gpus);
  }
  if (!gres.name.empty()) job->gpu_types = GpuTypesFrom(gres.name, "the type of --gres");
  if (job->requested < 1) {
    throw DataError("a job must ask for GPUs, by --gres=gpu:N or a comment 'allot min=.. max=..'");
  }
}

bool WantsNoGpus(const SlurmJob& slurm) {
  const std::string_view first = std::string_view(slurm.comment).substr(0, slurm.comment.find(' '));
  return first != "allot" && GpuTypesOfGres(slurm.gpus).empty() && !SharesGpus(slurm.gpus) &&
         slurm.other_gpus.empty() && !slurm.exclusive && !slurm.part;
}

}  // namespace allot
