#include "sim/lookahead_simulation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/index.h"
#include "length_model/remaining.h"
#include "sched/incremental.h"
#include "sim/lower_bound.h"
#include "sim/relaxation.h"
#include "sim/simulated_cluster.h"

namespace allot {

Observation NumberedByJob(const Observation& from) {
  std::vector<std::int32_t> order(from.job.size());
  std::iota(order.begin(), order.end(), 0);
  const auto by_job = [&](std::int32_t a, std::int32_t b) {
    return from.job[At(a)] < from.job[At(b)];
  };
  const bool in_order = std::is_sorted(from.job.begin(), from.job.end());
  if (!in_order) std::sort(order.begin(), order.end(), by_job);
  Observation o = in_order ? from : InOrder(from, order);
  for (JobIndex& partner : o.partner) {  // numbered as its job will be
    if (partner == kAlone) continue;
    const auto found = std::lower_bound(o.job.begin(), o.job.end(), partner);
    const bool here = found != o.job.end() && *found == partner;
    partner = here ? static_cast<JobIndex>(found - o.job.begin()) : kAlone;
  }
  std::iota(o.job.begin(), o.job.end(), JobIndex{0});
  return o;
}

namespace {

Scenario WorldOf(const Observation& o, SimOptions rules) {
  rules.interval = o.interval;
  Workload workload;
  std::vector<Scenario::JobFacts> facts;
  workload.jobs.resize(o.job.size());
  facts.reserve(o.job.size());
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    Scenario::JobFacts known;
    // The observation's tables outlive the decision.
    known.table =
        std::shared_ptr<const ConfigurationTable>(std::shared_ptr<const void>(), o.table[r]);
    known.requested = o.requested[r];
    known.work = o.done_work[r] + AssumedRemaining(o, row);
    known.estimate = o.estimated_work[r];
    workload.jobs[r].submit = o.submit[r];
    workload.jobs[r].duration = known.work / (*known.table)[known.requested].rate;
    facts.push_back(std::move(known));
  }
  return Scenario(std::move(workload), *o.cluster, rules, std::move(facts));
}

// Bound on the sum of the ends of what is unfinished now.
double RestOf(const SimulatedCluster& cluster) {
  const Observation& o = cluster.Observe();
  const Scenario& scenario = cluster.scenario();
  const std::size_t types = o.cluster->types().size();
  const ResourceWeights gpus{std::vector<double>(types, 1.0), std::vector<double>(types, 0.0)};
  std::vector<RelaxedJob> jobs;
  const ConfigurationTable* last = nullptr;
  double area_per_work = 0;
  for (std::size_t r = 0; r < o.job.size(); ++r) {
    if (o.table[r] != last) {
      last = o.table[r];
      area_per_work = LeastAreaPerWork(*last, gpus);
    }
    const double left = std::max(0.0, scenario.facts(o.job[r]).work - o.done_work[r]);
    jobs.push_back({.release = o.now,
                    .earliest = o.now + left / last->best_rate(),
                    .area = left * area_per_work});
  }
  return EndSumBound(jobs, o.cluster->total().gpus);
}

}  // namespace

LookaheadSimulation::LookaheadSimulation(const Observation& observation, SimOptions rules)
    : start_(NumberedByJob(observation)), scenario_(WorldOf(start_, std::move(rules))) {}

double LookaheadSimulation::CompletionSum(Policy& policy, const Limits& limits) const {
  SimulatedCluster cluster(scenario_, start_);
  policy.OnEpisodeStart({.seed = scenario_.options().seed, .cluster = &scenario_.cluster()});
  const Observation& o = cluster.Observe();
  double sum = 0;  // job-seconds: each second every unfinished job adds one
  const auto with_rest = [&] {
    return sum + RestOf(cluster) - static_cast<double>(o.rows()) * o.now;
  };
  Allocation allocation;
  bool more = o.rows() > 0;
  while (more) {
    if (o.now - start_.now >= limits.horizon) return with_rest();
    policy.Decide(o, &allocation);
    const ApplyReport report = cluster.Apply(allocation);
    if (!report.refused.ok()) {
      throw RunError("policy '{}' looking ahead from {} s, at {} s: {}", policy.info().id,
                     start_.now, o.now, report.refused.message());
    }
    const Seconds holds = HoldsUntil(policy, o, o.running);
    // Nodes may be down that some jobs need: as far as is known, these wait for ever.
    const bool nobody_runs = std::all_of(o.running.begin(), o.running.end(),
                                         [](std::int32_t running) { return running < 0; });
    if (nobody_runs && holds == kNever) return with_rest();
    more = cluster.WaitForChange(std::max(holds, o.now + limits.step));
    sum += cluster.last_step().job_seconds;
    if (sum >= limits.give_up) return kNever;
  }
  return sum;
}

}  // namespace allot
