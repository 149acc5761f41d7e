#include "envs/cluster_env.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"

namespace allot {

std::uint64_t NextEpisodeSeed(std::uint64_t seed) {
  return Rng(seed, "next-episode").NextU64() >> 16;
}

std::int64_t MostDecisions(const Scenario& scenario) {
  Seconds gpu_seconds = 0;
  Seconds longest = 0;
  Seconds last = 0;
  const std::vector<Job>& jobs = scenario.workload().jobs;
  for (const Job& job : jobs) {
    gpu_seconds += static_cast<double>(job.gpus) * job.duration;
    longest = std::max(longest, job.duration);
    last = std::max(last, job.submit);
  }
  const double gpus = std::max<GpuCount>(1, scenario.cluster().total().gpus);
  const double intervals = 2 * (last + gpu_seconds / gpus + longest) / scenario.options().interval;
  // Decisions at events come beside those at intervals: arrivals, ends, measured rates.
  const double events =
      scenario.options().decide_on_events ? 8.0 * static_cast<double>(jobs.size()) : 0.0;
  constexpr double kMost = 1e15;
  return static_cast<std::int64_t>(std::min(kMost, std::ceil(intervals + events) + 1));
}

ClusterEnv::ClusterEnv(EpisodeSource episodes, ClusterEnvOptions options)
    : episodes_(std::move(episodes)),
      options_(std::move(options)),
      agent_(options_),
      reward_(GetReward(options_.reward)) {}

StepInfo ClusterEnv::Reset(std::optional<std::uint64_t> seed) {
  seed_ = seed.value_or(next_seed_);
  scenario_ = episodes_(seed_);
  next_seed_ = NextEpisodeSeed(seed_);
  simulation_ = std::make_unique<RuledSimulation>(*scenario_);
  decisions_ = 0;
  max_decisions_ = options_.max_decisions.value_or(MostDecisions(*scenario_));
  over_ = false;
  idle_ = 0;
  agent_.OnEpisodeStart();
  agent_.Begin(observation());
  return Info();
}

StepInfo ClusterEnv::Info() const {
  const Observation& o = observation();
  StepInfo info;
  info.time_s = o.now;
  info.decision = o.decision;
  info.active_jobs = o.rows();
  info.jobs_beyond_window = std::max(0, o.rows() - options_.max_jobs);
  return info;
}

StepResult ClusterEnv::StepAllocation(const Allocation& allocation) {
  if (over_) throw UsageError("step after the end of the episode: call reset first");
  const ApplyReport report = simulation_->port().Apply(allocation);
  if (!report.refused.ok()) {
    throw RunError("decision {} at {} s: {}", decisions_, observation().now,
                   report.refused.message());
  }
  ++decisions_;
  StepResult result;
  const bool more = simulation_->port().WaitForChange(0);
  result.reward = options_.reward_scale * reward_.compute(cluster().last_step(), observation());
  result.terminated = !more;
  result.truncated = more && decisions_ >= max_decisions_;
  over_ = result.terminated || result.truncated;
  agent_.Begin(observation());
  result.info = Info();
  result.info.finished_jobs = cluster().last_step().finished;
  result.info.decided = true;
  result.info.dt_s = cluster().last_step().elapsed;
  if (over_) SumUp(&result.info);
  return result;
}

void ClusterEnv::SumUp(StepInfo* info) const {
  double total = 0;
  std::int64_t come = 0;
  for (const JobRecord& record : cluster().records()) {
    if (record.submit > info->time_s) continue;
    if (record.finish == kNever) ++info->unfinished_jobs;
    const Seconds until = std::min(record.finish, info->time_s);
    total += until - record.submit;
    info->makespan_s = std::max(info->makespan_s, until);
    ++come;
  }
  if (come > 0) info->avg_jct_s = total / static_cast<double>(come);
}

// An agent that asks for what is not allowed so often in a row will go on doing so.
constexpr int kMostIllegal = 1000;

StepResult ClusterEnv::Step(std::span<const float> action) {
  if (over_) throw UsageError("step after the end of the episode: call reset first");
  const AgentSide::Acted acted = agent_.Act(observation(), action, &allocation_);
  StepResult result;
  if (acted.decided) {
    result = StepAllocation(allocation_);
  } else {
    result.info = Info();
    idle_ = acted.illegal ? idle_ + 1 : 0;
    result.truncated = over_ = idle_ >= kMostIllegal;
    if (over_) SumUp(&result.info);
  }
  result.info.illegal_action = acted.illegal;
  result.info.unplaced_jobs = acted.unplaced;
  return result;
}

}  // namespace allot
