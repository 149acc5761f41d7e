#include "live/port/batch_control.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "live/port/worker_control.h"

namespace allot {

void BatchControl::RecordMeasurements() {
  for (const LiveJob* job : writer_.state().job_table().active()) {
    if (job->over || job->asked->mode != ResizeMode::kHot) continue;
    if (job->progress.batch.initial > 0) RecordMeasurements(*job);
  }
}

void BatchControl::RecordMeasurements(const LiveJob& job) {
  const BatchReport report = job.progress.batch;
  const std::string& id = job.asked->id;
  if (!job.training) {  // the first report counts: the job's table is made for these limits
    writer_.Write(
        record::Batch{id, report.initial, report.most, report.least_local, report.most_local});
  }
  const auto [at, first] = noise_at_.try_emplace(id, writer_.now());
  const bool early = !first && writer_.now() - at->second < kNoiseEvery;
  if (!early && job.training->NoiseMoved(job.progress.noise_scale)) {
    at->second = writer_.now();
    writer_.Write(record::Noise{id, job.progress.noise_scale});
  }
  // The nodes of the workers are only known while the job trains on its target.
  if (job.running < 0 || !(report.iteration > 0)) return;
  if (!job.worker_group.training(job.progress)) return;
  const Configuration& c = (*job.table)[job.running];
  if (report.timed.workers != c.demand.gpus) return;
  const std::string& type = writer_.state().job_table().nominal().types()[At(c.gpu_type)];
  const auto nodes = static_cast<std::int32_t>(job.shares.size());
  const auto local = static_cast<double>(report.timed.local);
  if (job.training->Knows(type, nodes, c.demand.gpus, local)) return;
  if (job.training->settings() >= kMostSettings) return;
  writer_.Write(record::Timed{.job = id,
                              .type = type,
                              .nodes = nodes,
                              .gpus = c.demand.gpus,
                              .local = report.timed.local,
                              .gradient = report.gradient,
                              .iteration = report.iteration});
}

WorkerBatchOrder BatchControl::BestBatch(const LiveJob& job) const {
  const Configuration& c = (*job.table)[job.running];
  const GpuCount gpus = c.demand.gpus;
  const auto order = [gpus](const BatchChoice& choice) {
    return WorkerBatchOrder{gpus, choice.local_batch, choice.accumulation};
  };
  const BatchLimits limits = job.progress.batch.limits();
  if (limits.most <= limits.initial)
    return {};  // the batch never changes, and the program splits it itself
  if (keep_) return order(SplitFixedBatch(limits, gpus, limits.initial));
  const std::string& type = writer_.state().job_table().nominal().types()[At(c.gpu_type)];
  const auto sent = sent_.find(job.asked->id);
  BatchChoice present;
  if (sent != sent_.end() && sent->second.workers == gpus) {
    present = {sent->second.local, sent->second.accumulation};
  }
  const BatchChoice choice =
      job.training->Choose(type, static_cast<std::int32_t>(job.shares.size()), gpus, present);
  return choice.local_batch > 0 ? order(choice) : WorkerBatchOrder{};
}

void BatchControl::SendBatches() {
  const std::vector<const LiveJob*>& active = writer_.state().job_table().active();
  const auto gone = [&](const auto& entry) {
    return std::none_of(active.begin(), active.end(), [&](const LiveJob* job) {
      return !job->over && job->asked->id == entry.first;
    });
  };
  std::erase_if(sent_, gone);
  std::erase_if(noise_at_, gone);
  for (const LiveJob* job : active) {
    if (job->over || job->running < 0 || !job->training) continue;
    if (job->progress.batch.initial <= 0) continue;
    const WorkerBatchOrder wanted = BestBatch(*job);
    WorkerBatchOrder& sent = sent_[job->asked->id];
    if (wanted.workers == 0 || wanted == sent) continue;
    const Status done = AskRuntime([&] { return runtime_.SetBatch(job->asked->id, wanted); });
    if (!done.ok()) continue;  // retried at the next poll
    sent = wanted;
    const std::int64_t total = wanted.workers * wanted.local * (wanted.accumulation + 1);
    spdlog::info("job {}: batch {} on {} GPUs, {} passes of {}; noise scale {:.0f}", job->asked->id,
                 total, wanted.workers, wanted.accumulation + 1, wanted.local,
                 job->training->noise());
    writer_.Note(
        {writer_.now(), record::TrainsWith{job->asked->id, wanted, total, job->training->noise()}});
  }
}

}  // namespace allot
