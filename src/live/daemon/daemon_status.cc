#include "live/daemon/daemon_status.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/index.h"
#include "core/wall_clock.h"

namespace allot {
namespace {

std::optional<double> IfKnown(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::string> IfAny(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

GpuCount CountWorkerGpus(const LiveJob& job) {
  GpuCount gpus = 0;
  for (const LiveWorker& worker : job.worker_group.workers()) gpus += std::popcount(worker.gpus);
  return gpus;
}

ByName<double> RatesAtRequest(const LiveJob& job, const std::vector<std::string>& types) {
  ByName<double> rates;
  if (!job.fits()) return rates;
  for (const GpuTypeIndex type : job.table->types()) {
    const std::int32_t asked = job.table->Find(UnitCounts(job.asked->requested), type);
    if (asked >= 0) rates.emplace_back(types[At(type)], (*job.table)[asked].rate);
  }
  return rates;
}

std::optional<BatchStatus> BatchOf(const BatchReport& batch) {
  if (batch.initial <= 0) return std::nullopt;
  const WorkerBatchOrder& now = batch.present;
  return BatchStatus{now.workers * now.local * (now.accumulation + 1), now.local, now.accumulation};
}

// "cooldown, 12 s more"
std::string PinText(const Pin& pin, Seconds now) {
  if (!pin) return "";
  if (pin.until == kNever) return std::string(NameOf(pin.rule));
  const Seconds left = std::ceil(std::max(0.0, pin.until - now));
  return fmt::format("{}, {} s more", NameOf(pin.rule), left);
}

std::string ReasonOf(const LiveCluster& cluster, const LiveJob& job, Seconds now) {
  if (job.unfit) return *job.unfit;
  if (!job.asked->reason.empty()) return job.asked->reason;
  if (job.beyond) return *job.beyond;
  std::string stuck = cluster.pending().ReasonOf(job);
  if (!stuck.empty()) return stuck;
  std::string late = job.worker_group.lateness();
  return late.empty() ? PinText(job.pin, now) : late;
}

JobStatus StatusOf(const LiveCluster& cluster, const LiveJob& job, Seconds now) {
  const std::vector<std::string>& types = cluster.state().job_table().nominal().types();
  JobStatus status;
  status.id = job.asked->id;
  status.name = job.asked->shown();
  status.title = job.asked->name;
  status.user = job.asked->user;
  status.model = job.asked->model;
  status.stage = job.stage();
  status.reason = IfAny(ReasonOf(cluster, job, now));
  status.allocated_gpus = job.given();
  status.worker_gpus = CountWorkerGpus(job);
  status.requested_gpus = job.asked->requested;
  status.min_gpus = job.asked->min_gpus;
  status.max_gpus = job.asked->max_gpus;
  if (job.running >= 0) status.gpu_type = types[At((*job.table)[job.running].gpu_type)];
  status.accepted_types = IfAny(job.asked->gpu_types);
  status.limits = IfAny(job.asked->limits);
  status.rates = RatesAtRequest(job, types);
  for (const NodeShare& share : job.shares) {
    status.nodes.emplace_back(cluster.state().nodes()[At(share.node)].name,
                              std::popcount(share.gpus));
  }
  status.epoch = job.worker_group.membership().epoch;
  status.step = job.progress.step;
  status.work = job.progress.work;
  const bool reported = !std::isnan(job.progress.total_work);
  status.total_work = IfKnown(reported ? job.progress.total_work : job.asked->total_work);
  status.rate = IfKnown(job.progress.rate);
  status.loss = IfKnown(job.progress.loss);
  status.noise_scale = IfKnown(job.progress.noise_scale);
  status.batch = BatchOf(job.progress.batch);
  status.plan = job.plan;
  status.age = now - job.submit;
  if (job.running < 0) status.waited = now - job.waiting_since;
  status.gpu_seconds = job.attained_gpu_seconds;
  status.changes = job.changes;
  return status;
}

// "j1, j4 failed there, odds 240 to 1, 25 min more"
std::string WhyAvoided(const LiveState& state, const RuntimeNode& node, Seconds now) {
  const auto& nodes = state.suspicion().nodes();
  const auto known = nodes.find(node.name);
  if (known == nodes.end() || !known->second.avoided) return "it has lost GPUs";
  return fmt::format("{} failed there, odds {:.0f} to 1, {:.0f} min more",
                     fmt::join(known->second.accusers, ", "),
                     state.suspicion().OddsOf(node.name, now),
                     std::ceil(std::max(0.0, known->second.avoided_until - now) / 60));
}

std::vector<NodeStatus> StatusOfNodes(const LiveState& state, Seconds now) {
  const HeldGpus occupied = state.Held();
  std::vector<NodeStatus> nodes;
  for (std::size_t n = 0; n < state.nodes().size(); ++n) {
    const RuntimeNode& node = state.nodes()[n];
    nodes.push_back({.name = node.name,
                     .gpu_type = node.gpu_type,
                     .gpus = node.capacity.gpus,
                     .worker_gpus = std::popcount(occupied[n]),
                     .foreign_gpus = node.taken,
                     .up = node.up(),
                     .state = state.StateOf(static_cast<NodeIndex>(n))});
    if (nodes.back().state == NodeState::kAvoided) nodes.back().why = WhyAvoided(state, node, now);
    if (auto jobs = state.suspicion().AccusersOf(node.name); !jobs.empty()) {
      nodes.back().suspicion = {state.suspicion().OddsOf(node.name, now), std::move(jobs)};
    }
    if (nodes.back().state != NodeState::kDrained) continue;
    const bool ours = state.drained_nodes().contains(node.name);
    nodes.back().drained_by = ours ? Drainer::kAllot : Drainer::kCluster;
  }
  return nodes;
}

}  // namespace

DaemonStatus MakeStatus(const LiveCluster& cluster, const DecisionCounts& decisions,
                        const DaemonOptions& options, std::span<const StatusPart* const> parts) {
  const LiveState& state = cluster.state();
  DaemonStatus status;
  status.now =
      cluster.now();  // of all jobs, so that of two that were submitted at once none is older
  status.written_at = WallSeconds();
  status.polled_at = IfKnown(cluster.counts().last_poll_at);
  status.decided_at = IfKnown(decisions.last_at);
  status.interval = options.live.interval;
  status.runtime = options.runtime;
  status.trouble = IfAny(cluster.trouble());
  status.warning = cluster.warning();
  status.policy = options.policy;
  status.rules = options.rules;
  status.fair_shares = cluster.HasFairShares();
  status.corrected =
      cluster.counts().corrected_for_guarantees + cluster.counts().corrected_for_fair_shares;
  status.paused = state.paused();
  status.drained = state.drained();
  status.finished = state.job_table().finished();
  status.more_jobs = static_cast<std::int64_t>(cluster.more());
  status.decisions = decisions.decisions;
  status.decision_us = 1e6 * decisions.last_seconds;
  status.resizes = cluster.counts().resizes;
  status.last_resize = cluster.counts().last_resize;
  status.workers_failed = cluster.counts().workers_failed;
  status.nodes = StatusOfNodes(state, status.now);
  status.jobs.reserve(state.job_table().active().size());
  for (const LiveJob* job : state.job_table().active()) {
    status.jobs.push_back(StatusOf(cluster, *job, status.now));
    for (const StatusPart* part : parts) part->AddTo(&status.jobs.back());
  }
  return status;
}

}  // namespace allot
