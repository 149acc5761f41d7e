// What users see of a daemon.

#include <bit>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/index.h"
#include "core/json_text.h"
#include "core/wall_clock.h"
#include "live/daemon/daemon.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

Json NumberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(); }

GpuCount Held(const LiveJob& job) {
  GpuCount gpus = 0;
  for (const LiveWorker& worker : job.worker_group.workers()) gpus += std::popcount(worker.gpus);
  return gpus;
}

// As believed now, at the GPUs it asks for, by type: those that it accepts and that have room.
Json RatesJson(const LiveJob& job, const std::vector<std::string>& types) {
  Json rates = Json::object();
  if (!job.fits()) return rates;
  for (const GpuTypeIndex type : job.table->types()) {
    const std::int32_t asked = job.table->Find(UnitCounts(job.asked->requested), type);
    if (asked >= 0) rates[types[At(type)]] = (*job.table)[asked].rate;
  }
  return rates;
}

// What a step of it is now; null of jobs whose batch does not follow their workers.
Json BatchJson(const BatchReport& batch) {
  if (batch.initial <= 0) return {};
  const WorkerBatchOrder& now = batch.present;
  return {{"total", now.workers * now.local * (now.accumulation + 1)},
          {"local", now.local},
          {"accumulation", now.accumulation}};
}

// "cooldown, 12 s more"
std::string HoldText(const Hold& hold, Seconds now) {
  if (!hold) return "";
  if (hold.until == kNever) return std::string(NameOf(hold.rule));
  const Seconds left = std::ceil(std::max(0.0, hold.until - now));
  return fmt::format("{}, {} s more", NameOf(hold.rule), left);
}

// Why it does not run as decided, or is not changed now, for its user.
std::string ReasonOf(const LiveCluster& cluster, const LiveJob& job, Seconds now) {
  if (job.unfit) return *job.unfit;
  if (!job.asked->reason.empty()) return job.asked->reason;
  if (job.beyond) return *job.beyond;
  std::string stuck = cluster.starts().ReasonOf(job);
  if (!stuck.empty()) return stuck;
  std::string late = job.worker_group.lateness();
  return late.empty() ? HoldText(job.hold, now) : late;
}

// `now`: the same for all, so that of two jobs of one moment neither is older.
Json JobJson(const LiveCluster& cluster, const LiveJob& job, Seconds now) {
  GpuCount given = 0;
  Json nodes = Json::object();
  for (const NodeShare& share : job.shares) {
    nodes[cluster.state().nodes()[At(share.node)].name] = std::popcount(share.gpus);
    given += std::popcount(share.gpus);
  }
  const std::vector<std::string>& types = cluster.state().job_table().nominal().types();
  const double total =
      !std::isnan(job.progress.total_work) ? job.progress.total_work : job.asked->total_work;
  return {{"job", job.asked->id},
          {"name", job.asked->shown()},
          {"title", job.asked->name},
          {"user", job.asked->user},
          {"model", job.asked->model},
          {"stage", job.stage()},
          {"reason", ReasonOf(cluster, job, now)},
          {"gpus", given},
          {"held", Held(job)},
          {"asked", job.asked->requested},
          {"min", job.asked->min_gpus},
          {"max", job.asked->max_gpus},
          {"type", job.running < 0 ? "" : types[At((*job.table)[job.running].gpu_type)]},
          {"types", job.asked->gpu_types},
          {"limits", job.asked->limits},
          {"rates", RatesJson(job, types)},
          {"nodes", std::move(nodes)},
          {"epoch", job.worker_group.membership().epoch},
          {"step", job.progress.step},
          {"work", job.progress.work},
          {"total", NumberOrNull(total)},
          {"rate", NumberOrNull(job.progress.rate)},
          {"loss", NumberOrNull(job.progress.loss)},
          {"noise_scale", NumberOrNull(job.progress.noise_scale)},
          {"batch", BatchJson(job.progress.batch)},
          {"age", now - job.submit},
          {"waits", job.running < 0 ? Json(now - job.waiting_since) : Json()},
          {"gpu_seconds", job.attained_gpu_seconds},
          {"changes", job.changes}};
}

Json WithoutJobs(const LiveCluster& cluster, const DecisionCounts& decisions,
                 const DaemonOptions& options, Seconds now) {
  const LiveState& state = cluster.state();
  const HeldGpus held = state.Held();
  Json nodes = Json::array();
  for (std::size_t n = 0; n < state.nodes().size(); ++n) {
    const RuntimeNode& node = state.nodes()[n];
    const bool drained = state.StateOf(static_cast<NodeIndex>(n)) == NodeState::kDrained;
    const bool ours = state.drained_nodes().contains(node.name);
    nodes.push_back({{"node", node.name},
                     {"type", node.gpu_type},
                     {"gpus", node.capacity.gpus},
                     {"held", std::popcount(held[n])},
                     {"taken", node.taken},
                     {"up", node.up()},
                     {"drained", drained},
                     {"drained_by", !drained ? "" : (ours ? "allot" : "cluster")},
                     {"maintenance", state.maintained_nodes().contains(node.name)}});
  }
  return {{"now", now},
          {"written", WallSeconds()},
          {"looked", NumberOrNull(cluster.counts().last_poll_at)},
          {"decided", NumberOrNull(decisions.last_at)},
          {"interval", options.live.interval},
          {"runtime", options.runtime},
          {"trouble", cluster.trouble()},
          {"policy", options.policy},
          {"rules", options.rules},
          {"paused", state.paused()},
          {"drained", state.drained()},
          {"finished", state.job_table().finished()},
          {"decisions", decisions.decisions},
          {"decision_us", 1e6 * decisions.last_seconds},
          {"resizes", cluster.counts().resizes},
          {"last_resize_s", cluster.counts().last_resize},
          {"workers_failed", cluster.counts().workers_failed},
          {"nodes", std::move(nodes)}};
}

}  // namespace

Json StatusJson(const LiveCluster& cluster, const DecisionCounts& decisions,
                const DaemonOptions& options) {
  const Seconds now = cluster.now();
  Json status = WithoutJobs(cluster, decisions, options, now);
  Json& jobs = status["jobs"] = Json::array();
  for (const LiveJob* job : cluster.state().job_table().active()) {
    jobs.push_back(JobJson(cluster, *job, now));
  }
  return status;
}

std::string StatusText(const LiveCluster& cluster, const DecisionCounts& decisions,
                       const DaemonOptions& options, const Shadow* shadow,
                       std::span<const StatusPart* const> parts) {
  constexpr std::size_t kOfAJob = 640;  // bytes, as most have
  const std::vector<const LiveJob*>& active = cluster.state().job_table().active();
  const Seconds now = cluster.now();
  Json head = WithoutJobs(cluster, decisions, options, now);
  if (shadow != nullptr) head["shadow"] = shadow->ToJson();
  std::string text = JsonText(head, -1);
  text.pop_back();
  text.reserve(text.size() + kOfAJob * (active.size() + 1));
  text += R"(,"jobs":[)";
  for (std::size_t i = 0; i < active.size(); ++i) {
    Json job = JobJson(cluster, *active[i], now);
    for (const StatusPart* part : parts) part->AddTo(&job);
    if (i > 0) text += ',';
    text += JsonText(job, -1);
  }
  return text += "]}";
}

}  // namespace allot
