// What users and Prometheus see of a daemon.

#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "core/index.h"
#include "core/metric_label.h"
#include "live/daemon.h"

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
  if (!job.fits) return rates;
  for (const GpuTypeIndex type : job.table->types()) {
    const std::int32_t asked = job.table->Find(UnitCounts(job.asked.requested), type);
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

// Why it does not run as decided, for its user.
std::string ReasonOf(const LiveCluster& cluster, const LiveJob& job) {
  if (!job.fits) return job.unfit;
  return job.asked.reason.empty() ? cluster.starts().ReasonOf(job) : job.asked.reason;
}

Json JobJson(const LiveCluster& cluster, const LiveJob& job) {
  GpuCount given = 0;
  Json nodes = Json::object();
  for (const NodeShare& share : job.shares) {
    nodes[cluster.state().nodes()[At(share.node)].name] = std::popcount(share.gpus);
    given += std::popcount(share.gpus);
  }
  const std::vector<std::string>& types = cluster.state().job_table().nominal().types();
  const double total =
      !std::isnan(job.progress.total_work) ? job.progress.total_work : job.asked.total_work;
  return {{"job", job.asked.id},
          {"name", job.asked.shown()},
          {"user", job.asked.user},
          {"model", job.asked.model},
          {"stage", job.fits ? job.worker_group.stage(job.progress) : "fits nowhere"},
          {"reason", ReasonOf(cluster, job)},
          {"gpus", given},
          {"held", Held(job)},
          {"min", job.asked.min_gpus},
          {"max", job.asked.max_gpus},
          {"type", job.running < 0 ? "" : types[At((*job.table)[job.running].gpu_type)]},
          {"types", job.asked.gpu_types},
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
          {"age", cluster.now() - job.submit},
          {"gpu_seconds", job.attained_gpu_seconds},
          {"changes", job.changes}};
}

// At most so many reasons by name: labels of metrics are bounded.
std::map<std::string, int> PendingByReason(const LiveState& state) {
  constexpr std::size_t kMostReasons = 20;
  std::map<std::string, int> workers_by_reason;
  for (const LiveJob* job : state.job_table().active()) {
    for (const LiveWorker& worker : job->worker_group.workers()) {
      if (worker.waits.empty()) continue;
      const bool named =
          workers_by_reason.size() < kMostReasons || workers_by_reason.contains(worker.waits);
      ++workers_by_reason[named ? worker.waits : "other"];
    }
  }
  return workers_by_reason;
}

}  // namespace

Json StatusJson(const LiveCluster& cluster, const DecisionCounts& decisions,
                const DaemonOptions& options) {
  const LiveState& state = cluster.state();
  const HeldGpus held = state.Held();
  Json nodes = Json::array();
  for (std::size_t n = 0; n < state.nodes().size(); ++n) {
    const RuntimeNode& node = state.nodes()[n];
    nodes.push_back({{"node", node.name},
                     {"type", node.gpu_type},
                     {"gpus", node.capacity.gpus},
                     {"held", std::popcount(held[n])},
                     {"taken", node.taken},
                     {"up", node.up},
                     {"drained", state.drained_nodes().contains(node.name)}});
  }
  Json jobs = Json::array();
  for (const LiveJob* job : state.job_table().active()) jobs.push_back(JobJson(cluster, *job));
  return {{"now", cluster.now()},
          {"runtime", options.runtime},
          {"trouble", cluster.trouble()},
          {"policy", options.policy},
          {"paused", state.paused()},
          {"drained", state.drained()},
          {"finished", state.job_table().finished()},
          {"decisions", decisions.decisions},
          {"decision_us", 1e6 * decisions.last_seconds},
          {"resizes", cluster.counts().resizes},
          {"last_resize_s", cluster.counts().last_resize},
          {"workers_failed", cluster.counts().workers_failed},
          {"nodes", std::move(nodes)},
          {"jobs", std::move(jobs)}};
}

std::string MetricsText(const LiveCluster& cluster, const DecisionCounts& decisions) {
  const LiveState& state = cluster.state();
  const LiveCounts& counts = cluster.counts();
  std::string text;
  const auto metric = [&text](const char* name, const char* type, const char* help, double value) {
    text += fmt::format("# HELP allot_{0} {1}\n# TYPE allot_{0} {2}\nallot_{0} {3}\n", name, help,
                        type, value);
  };
  // Of each type of GPUs, its name as a label.
  const auto by_type = [&](const char* name, const char* help, const std::vector<int>& values) {
    text += fmt::format("# HELP allot_{0} {1}\n# TYPE allot_{0} gauge\n", name, help);
    const std::vector<std::string>& types = state.job_table().nominal().types();
    for (std::size_t type = 0; type < types.size(); ++type) {
      text +=
          fmt::format("allot_{}{{type=\"{}\"}} {}\n", name, MetricLabel(types[type]), values[type]);
    }
  };
  const ClusterSpec& present = state.present();
  std::vector<int> up_of(present.types().size()), held_of(up_of), jobs_of(up_of);
  int waiting = 0, running = 0, held = 0;
  for (const LiveJob* job : state.job_table().active()) {
    ++(job->running < 0 ? waiting : running);
    held += Held(*job);
    if (job->running >= 0) ++jobs_of[At((*job->table)[job->running].gpu_type)];
    for (const LiveWorker& worker : job->worker_group.workers()) {
      held_of[At(present.nodes()[At(worker.node)].type)] += std::popcount(worker.gpus);
    }
  }
  for (std::size_t type = 0; type < up_of.size(); ++type) {
    up_of[type] = present.total_of(static_cast<GpuTypeIndex>(type)).gpus;
  }
  metric("jobs_waiting", "gauge", "jobs without GPUs", waiting);
  metric("jobs_running", "gauge", "jobs that were given GPUs", running);
  metric("jobs_finished_total", "counter", "jobs that finished",
         static_cast<double>(state.job_table().finished()));
  metric("gpus_up", "gauge", "GPUs of nodes that are up", state.present().total().gpus);
  metric("gpus_held", "gauge", "GPUs that workers hold", held);
  by_type("gpus_up_of_type", "GPUs of a type, of nodes that are up", up_of);
  by_type("gpus_held_of_type", "GPUs of a type that workers hold", held_of);
  by_type("jobs_running_on_type", "jobs that were given GPUs of a type", jobs_of);
  metric("paused", "gauge", "1 while decisions are paused", state.paused() ? 1 : 0);
  metric("decisions_failed_total", "counter", "decisions that changed nothing for an error",
         static_cast<double>(decisions.failed));
  metric("gives_total", "counter", "launches, resizes and moves decided",
         static_cast<double>(counts.gives));
  metric("takes_total", "counter", "preemptions decided", static_cast<double>(counts.takes));
  metric("resizes_total", "counter", "changes of size or place that came to train",
         static_cast<double>(counts.resizes));
  metric("resize_seconds_total", "counter", "from decision to training at the new size",
         counts.resize_seconds);
  metric("epochs_total", "counter", "memberships announced", static_cast<double>(counts.epochs));
  metric("workers_started_total", "counter", "workers started",
         static_cast<double>(counts.workers_started));
  metric("workers_failed_total", "counter", "workers lost",
         static_cast<double>(counts.workers_failed));
  metric("starts_withdrawn_total", "counter",
         "placements taken back, as the cluster did not begin with them",
         static_cast<double>(counts.starts_withdrawn));
  text +=
      "# HELP allot_workers_pending workers with which the cluster has not begun, by its reason\n"
      "# TYPE allot_workers_pending gauge\n";
  for (const auto& [reason, workers] : PendingByReason(state)) {
    text +=
        fmt::format("allot_workers_pending{{reason=\"{}\"}} {}\n", MetricLabel(reason), workers);
  }
  metric("looks_failed_total", "counter", "times the runtime could not be asked",
         static_cast<double>(counts.failed_polls));
  text += "# HELP allot_decision_seconds wall time of a decision\n";
  text += "# TYPE allot_decision_seconds histogram\n";
  for (int bucket = 0; bucket < DecisionCounts::kBuckets; ++bucket) {
    text += fmt::format("allot_decision_seconds_bucket{{le=\"{:g}\"}} {}\n",
                        DecisionCounts::BucketEnd(bucket), decisions.by_bucket[bucket]);
  }
  text += fmt::format(
      "allot_decision_seconds_bucket{{le=\"+Inf\"}} {0}\nallot_decision_seconds_sum {1}\n"
      "allot_decision_seconds_count {0}\n",
      decisions.decisions, decisions.seconds);
  return text;
}

}  // namespace allot
