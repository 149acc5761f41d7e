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

inline ObservationBuffer LookAt(const Env& env) {
  ObservationBuffer o(env.spec());
  o.Fill(NAN, 99);  // what Observe leaves unwritten breaks the bounds
  env.Observe(o.Row(0));
  return o;
}

template <typename T>
bool Within(std::span<const T> values, const TensorSpec& spec) {
  for (const T value : values) {
    // Written so that NaN is outside.
    if (!(static_cast<double>(value) >= spec.low && static_cast<double>(value) <= spec.high)) {
      return false;
    }
  }
  return static_cast<std::int64_t>(values.size()) == spec.elements();
}

// "" or the name of the first tensor that leaves its bounds.
inline std::string OutOfBounds(const ObservationBuffer& o, const EnvSpec& spec) {
  for (const TensorSpec& tensor : spec.observation) {
    const bool within = tensor.dtype == "uint8"   ? Within(o.bytes(tensor.name), tensor)
                        : tensor.dtype == "int64" ? Within(o.integers(tensor.name), tensor)
                                                  : Within(o.floats(tensor.name), tensor);
    if (!within) return tensor.name;
  }
  return "";
}

// A legal action (sequence and choice mode) or random scores (index mode), into `action`.
inline void RandomAction(const EnvSpec& spec, std::span<const std::uint8_t> mask, Rng* rng,
                         std::vector<float>* action) {
  action->resize(static_cast<std::size_t>(spec.action.elements()));
  if (spec.action_kind == ActionKind::kBox) {
    for (float& value : *action) value = static_cast<float>(rng->Normal());
    return;
  }
  if (spec.action_kind == ActionKind::kMultiDiscrete) {
    const std::size_t choices = mask.size() / action->size();
    for (std::size_t slot = 0; slot < action->size(); ++slot) {
      std::size_t choice = rng->Below(choices);
      while (mask[slot * choices + choice] == 0) choice = rng->Below(choices);
      (*action)[slot] = static_cast<float>(choice);
    }
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
         a.illegal_action == b.illegal_action && a.unplaced_jobs == b.unplaced_jobs;
}

}  // namespace allot
