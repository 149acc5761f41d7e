#pragma once
// A small world for the environment tests: a trace of four days, a cluster that it keeps busy, and
// the plumbing to read observations and to draw actions.

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/rng.h"
#include "envs/cluster_env.h"

namespace allot {

inline constexpr Seconds kDay = 86400;

// `jobs` jobs of 1, 2 or 4 GPUs, one about every `gap` seconds.
inline Workload SmallTrace(int jobs, Seconds gap) {
  Workload workload;
  workload.name = "small";
  Rng rng(7, "small-world");
  Seconds now = 0;
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.id = "job-" + std::to_string(i);
    job.submit = now;
    job.gpus = 1 << rng.Below(3);
    job.duration = 600 + rng.Exponential(5400);
    workload.jobs.push_back(job);
    now += rng.Uniform(0.5, 1.5) * gap;
  }
  workload.Finish();
  return workload;
}

inline const Workload& FourDays() {
  static const Workload trace = SmallTrace(120, 4 * kDay / 120);
  return trace;
}

// Day k mod 4 of the trace for seed k, every job of it, on two nodes of four GPUs.
inline EpisodeSource Days() {
  WindowOptions window;
  window.span = kDay;
  window.weekly = true;
  window.loads = {0};
  return WindowEpisodes(FourDays(), ClusterSpec::Parse("2x4"), window);
}

// The same few jobs, whatever the seed.
inline EpisodeSource FewJobs(int jobs) {
  Workload workload = SmallTrace(jobs, 900);
  MakeElastic({}, Catalogue::Embedded(), &workload);
  auto scenario = std::make_shared<const Scenario>(std::move(workload), ClusterSpec::Parse("2x4"),
                                                   SimOptions{});
  return [scenario](std::uint64_t) { return scenario; };
}

struct OwnedObservation {
  std::vector<float> jobs;
  std::vector<float> context;
  std::vector<std::uint8_t> job_mask;
  std::vector<float> granted;
  std::vector<std::uint8_t> action_mask;
  bool operator==(const OwnedObservation&) const = default;
};

inline OwnedObservation LookAt(const Env& env) {
  const std::vector<TensorSpec>& spec = env.spec().observation;
  const auto size = [&](std::size_t i) { return static_cast<std::size_t>(spec[i].elements()); };
  // NaN and 99: what Observe leaves unwritten breaks the bounds.
  OwnedObservation o{std::vector<float>(size(0), NAN), std::vector<float>(size(1), NAN),
                     std::vector<std::uint8_t>(size(2), 99), std::vector<float>(size(3), NAN),
                     std::vector<std::uint8_t>(size(4), 99)};
  env.Observe({o.jobs, o.context, o.job_mask, o.granted, o.action_mask});
  return o;
}

template <typename T>
bool Within(const std::vector<T>& values, const TensorSpec& spec) {
  for (const T value : values) {
    // Written so that NaN is outside.
    if (!(static_cast<double>(value) >= spec.low && static_cast<double>(value) <= spec.high)) {
      return false;
    }
  }
  return static_cast<std::int64_t>(values.size()) == spec.elements();
}

// "" or the name of the first tensor that leaves its bounds.
inline std::string OutOfBounds(const OwnedObservation& o, const EnvSpec& spec) {
  const std::vector<TensorSpec>& tensors = spec.observation;
  if (!Within(o.jobs, tensors[0])) return tensors[0].name;
  if (!Within(o.context, tensors[1])) return tensors[1].name;
  if (!Within(o.job_mask, tensors[2])) return tensors[2].name;
  if (!Within(o.granted, tensors[3])) return tensors[3].name;
  if (!Within(o.action_mask, tensors[4])) return tensors[4].name;
  return "";
}

// A legal action (sequence mode) or random scores (index mode), into `action`.
inline void RandomAction(const EnvSpec& spec, const std::vector<std::uint8_t>& mask, Rng* rng,
                         std::vector<float>* action) {
  action->resize(static_cast<std::size_t>(spec.action.elements()));
  if (!spec.discrete) {
    for (float& value : *action) value = static_cast<float>(rng->Normal());
    return;
  }
  std::size_t chosen = 0;
  do {
    chosen = rng->Below(mask.size());
  } while (mask[chosen] == 0);
  (*action)[0] = static_cast<float>(chosen);
}

inline bool operator==(const StepInfo& a, const StepInfo& b) {
  return a.time_s == b.time_s && a.decision == b.decision && a.active_jobs == b.active_jobs &&
         a.finished_jobs == b.finished_jobs && a.decided == b.decided &&
         a.illegal_action == b.illegal_action;
}

}  // namespace allot
