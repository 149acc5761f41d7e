#include "live/daemon/daemon_metrics.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <vector>

#include "core/index.h"
#include "core/metric_text.h"
#include "core/version.h"
#include "live/daemon/process_metrics.h"

namespace allot {
namespace {

constexpr std::size_t kMostReasons = 20;  // the rest is "other", so that labels are bounded

std::map<std::string, int> PendingByReason(const LiveState& state) {
  std::map<std::string, int> workers_by_reason;
  for (const LiveJob* job : state.job_table().active()) {
    for (const LiveWorker& worker : job->worker_group.workers()) {
      if (!worker.pending) continue;
      const std::string& reason = worker.pending->reason;
      const bool named =
          workers_by_reason.size() < kMostReasons || workers_by_reason.contains(reason);
      ++workers_by_reason[named ? reason : "other"];
    }
  }
  return workers_by_reason;
}

// States without jobs are shown, too.
std::map<std::string_view, int> JobsByState(const LiveState& state) {
  std::map<std::string_view, int> jobs;
  for (const std::string_view stage : kJobStageNames) jobs[stage] = 0;
  for (const LiveJob* job : state.job_table().active()) ++jobs[NameOf(job->stage())];
  return jobs;
}

Seconds LongestWait(const LiveCluster& cluster) {
  Seconds longest = 0;
  for (const LiveJob* job : cluster.state().job_table().active()) {
    const bool waits =
        job->running < 0 && job->fits() && !job->over && job->asked->state == JobState::kActive;
    if (waits) longest = std::max(longest, cluster.now() - job->waiting_since);
  }
  return longest;
}

void AddRuleMetrics(const LiveState& state, MetricText* text) {
  std::map<std::string_view, int> jobs;
  for (const PinningRule rule : kPinningRules) jobs[NameOf(rule)] = 0;
  for (const LiveJob* job : state.job_table().active()) {
    if (job->pin) ++jobs[NameOf(job->pin.rule)];
  }
  text->Gauge("allot_jobs_pinned_by_rule",
              "jobs that no decision may change now, by the rule that pins them");
  for (const auto& [rule, count] : jobs) text->Value(count, {{"rule", rule}});
  const auto& active = state.job_table().active();
  const auto beyond = [](const LiveJob* job) { return job->beyond && !job->over; };
  text->Gauge("allot_jobs_beyond_limit", "jobs that wait because they would exceed a GPU limit");
  text->Value(static_cast<double>(std::count_if(active.begin(), active.end(), beyond)));
}

void AddNodeMetrics(const LiveState& state, Seconds now, MetricText* text) {
  constexpr double kLeastOdds = 1.0 / 9;

  std::map<std::string_view, int> nodes;
  for (const std::string_view name : kNodeStateNames) nodes[name] = 0;
  for (std::size_t n = 0; n < state.nodes().size(); ++n) {
    ++nodes[NameOf(state.StateOf(static_cast<NodeIndex>(n)))];
  }
  text->Gauge("allot_nodes", "nodes with GPUs, by state");
  for (const auto& [name, count] : nodes) text->Value(count, {{"state", name}});
  text->Gauge("allot_node_suspicion", "probability that a node fails jobs, above 0.1");
  for (const auto& [name, known] : state.suspicion().nodes()) {
    const double odds = state.suspicion().OddsOf(name, now);
    if (odds > kLeastOdds) text->Value(odds / (1 + odds), {{"node", name}});
  }
}

void AddGpuMetrics(const LiveState& state, MetricText* text) {
  const ClusterSpec& present = state.present();
  const std::vector<std::string>& types = state.job_table().nominal().types();
  std::vector<int> held(types.size()), taken(types.size()), jobs(types.size());
  for (const LiveJob* job : state.job_table().active()) {
    if (job->running >= 0) ++jobs[At((*job->table)[job->running].gpu_type)];
    for (const LiveWorker& worker : job->worker_group.workers()) {
      held[At(present.nodes()[At(worker.node)].type)] += std::popcount(worker.gpus);
    }
  }
  for (std::size_t n = 0; n < state.nodes().size(); ++n) {
    taken[At(present.nodes()[n].type)] += state.nodes()[n].taken;
  }
  const auto by_type = [&](const char* name, const char* help, const auto& value) {
    text->Gauge(name, help);
    for (std::size_t type = 0; type < types.size(); ++type) {
      text->Value(value(type), {{"type", types[type]}});
    }
  };
  by_type("allot_gpus_up", "GPUs of nodes that are up",
          [&](std::size_t type) { return present.total_of(static_cast<GpuTypeIndex>(type)).gpus; });
  by_type("allot_gpus_allocated", "GPUs allocated to workers",
          [&](std::size_t type) { return held[type]; });
  by_type("allot_gpus_foreign",
          "GPUs allocated or reserved by the cluster for jobs that allot does not manage",
          [&](std::size_t type) { return taken[type]; });
  by_type("allot_jobs_running", "jobs with GPUs of this type",
          [&](std::size_t type) { return jobs[type]; });
}

void AddDecisionMetrics(const DecisionCounts& decisions, MetricText* text) {
  std::array<double, DecisionCounts::kBuckets> ends{};
  for (int bucket = 0; bucket < DecisionCounts::kBuckets; ++bucket) {
    ends[At(bucket)] = DecisionCounts::BucketEnd(bucket);
  }
  text->Histogram("allot_decision_seconds", "wall time of a decision of the policy", ends,
                  decisions.by_bucket, decisions.seconds, decisions.decisions);
  text->Counter("allot_decisions_failed_total", "decisions that failed and changed nothing")
      .Value(static_cast<double>(decisions.failed));
  text->Gauge("allot_last_decision_timestamp_seconds",
              "Unix time of the last decision; NaN before the first")
      .Value(decisions.last_at);
}

void AddCountMetrics(const LiveCounts& counts, MetricText* text) {
  const auto counter = [text](const char* name, const char* help, std::int64_t value) {
    text->Counter(name, help).Value(static_cast<double>(value));
  };
  text->Counter("allot_jobs_ended_total", "jobs that ended while this daemon served, by result");
  for (const JobState state : {JobState::kFinished, JobState::kFailed, JobState::kCancelled}) {
    text->Value(static_cast<double>(counts.EndedAs(state)), {{"result", NameOf(state)}});
  }
  counter("allot_placements_total", "decided launches, resizes and moves", counts.gives);
  text->Counter("allot_decisions_corrected_total",
                "decisions that left an account below its guarantee, or a user below his fair "
                "share, and were corrected")
      .Value(static_cast<double>(counts.corrected_for_guarantees), {{"for", "guarantees"}})
      .Value(static_cast<double>(counts.corrected_for_fair_shares), {{"for", "fair shares"}});
  counter("allot_preemptions_total", "decided preemptions", counts.takes);
  text->Histogram("allot_resize_seconds", "seconds from the decision to training with the new GPUs",
                  LiveCounts::kResizeEnds, counts.resizes_within, counts.resize_seconds,
                  counts.resizes);
  counter("allot_epochs_total", "announced epochs of jobs", counts.epochs);
  counter("allot_workers_started_total", "started workers", counts.workers_started);
  counter("allot_workers_failed_total", "failed workers", counts.workers_failed);
  counter("allot_workers_stalled_total", "workers replaced because their job had stalled",
          counts.workers_stalled);
  counter("allot_starts_withdrawn_total",
          "placements withdrawn because the cluster's scheduler did not start them",
          counts.starts_withdrawn);
  counter("allot_nodes_avoided_total", "times that a node was avoided because it failed jobs",
          counts.nodes_avoided);
  counter("allot_polls_total", "polls of the cluster", counts.polls);
  counter("allot_polls_failed_total", "polls that the cluster did not answer", counts.failed_polls);
  counter("allot_writes_refused_total", "writes that the cluster's API refused",
          counts.refused_writes);
  text->Gauge("allot_last_poll_timestamp_seconds",
              "Unix time of the last successful poll; NaN before the first")
      .Value(counts.last_poll_at);
}

}  // namespace

std::string MetricsText(const LiveCluster& cluster, const DecisionCounts& decisions) {
  const LiveState& state = cluster.state();
  MetricText text;
  text.Gauge("allot_build_info", "1; the label is the version").Value(1, {{"version", Version()}});
  text.Gauge("allot_cluster_up",
             "1 while the cluster answers, 0 while the daemon can make no changes")
      .Value(cluster.trouble().empty() ? 1 : 0);
  text.Gauge("allot_paused", "1 while decisions are paused").Value(state.paused() ? 1 : 0);
  text.Gauge("allot_drained", "1 while no job may start").Value(state.drained() ? 1 : 0);
  text.Gauge("allot_jobs", "unfinished jobs, by state as in 'allot status'");
  for (const auto& [name, jobs] : JobsByState(state)) text.Value(jobs, {{"state", name}});
  text.Gauge("allot_jobs_to_come", "jobs that the cluster will show later: tasks of arrays")
      .Value(static_cast<double>(cluster.more()));
  text.Gauge("allot_longest_wait_seconds", "longest present wait of a job")
      .Value(LongestWait(cluster));
  AddRuleMetrics(state, &text);
  AddNodeMetrics(state, cluster.now(), &text);
  AddGpuMetrics(state, &text);
  text.Gauge("allot_workers_pending",
             "workers that the cluster's scheduler has not started, by pending reason");
  for (const auto& [reason, workers] : PendingByReason(state)) {
    text.Value(workers, {{"reason", reason}});
  }
  AddDecisionMetrics(decisions, &text);
  AddCountMetrics(cluster.counts(), &text);
  AddProcessMetrics(&text);
  return text.text();
}

}  // namespace allot
