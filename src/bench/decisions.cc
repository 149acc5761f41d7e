#include "bench/decisions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "agents/learned/index_agent.h"
#include "core/cpu_time.h"
#include "core/rng.h"
#include "perf/dl2_job_types.h"
#include "perf/table_cache.h"
#include "sim/profile.h"
#include "sim/simulated_cluster.h"

namespace allot {
namespace {

std::shared_ptr<const Scenario> CrowdOf(int jobs, double nodes_per_job, bool lengths_known,
                                        int users) {
  const int servers = std::max(1, static_cast<int>(nodes_per_job * jobs));
  ClusterSpec cluster;
  cluster.AddNodes(servers, {.gpus = 8, .cpus = 8}, "gpu");
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "dl2").apply(&options);
  Workload workload;
  workload.name = fmt::format("crowd-{}", jobs);
  TableCache tables(Dl2Catalogue(), {{.name = "gpu", .gpus = 8 * servers}});
  std::vector<Scenario::JobFacts> facts;
  Rng rng(1, "bench-decide");
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.model = workload.models.Intern(Dl2JobTypes()[static_cast<std::size_t>(rng.Below(8))].model);
    job.gpus = job.min_gpus = 1;
    if (users > 0) job.user = workload.users.Intern(std::to_string(i % users));
    job.max_gpus = kDl2MostUnits;
    Scenario::JobFacts one;
    one.table = tables.TableFor(workload, job);
    one.requested = tables.RequestedOf(workload, job);
    // Few of the jobs end during the measurement.
    job.duration = options.interval * (500 + rng.Exponential(10000));
    job.work = one.work = job.duration * one.table->reference_rate();
    one.estimate = lengths_known ? one.work : kUnknown;
    workload.jobs.push_back(std::move(job));
    facts.push_back(std::move(one));
  }
  workload.Finish();
  return std::make_shared<const Scenario>(std::move(workload), cluster, options, std::move(facts));
}

// Observations of consecutive decisions under the policy.
std::vector<Observation> Moments(SimulatedCluster* cluster, Policy& policy, int skip, int count) {
  std::vector<Observation> moments;
  Allocation allocation;
  for (int d = 0; d < skip + count; ++d) {
    const Observation& now = cluster->Observe();
    if (d >= skip) moments.push_back(now);
    policy.Decide(now, &allocation);
    cluster->Apply(allocation);
    cluster->WaitForChange(0);
  }
  return moments;
}

// Median over rounds of the mean CPU microseconds of one `step` on the moments in turn.
template <typename Step>
double Microseconds(const std::vector<Observation>& moments, const Step& step) {
  constexpr double kSecondsPerRound = 0.05;
  constexpr std::size_t kRounds = 9;
  std::vector<double> rounds;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::int64_t steps = 0;
    const double start = ThreadCpuSeconds();
    double seconds = 0;
    do {
      for (std::size_t m = 0; m < moments.size(); ++m) step(m);
      steps += static_cast<std::int64_t>(moments.size());
      seconds = ThreadCpuSeconds() - start;
    } while (seconds < kSecondsPerRound);
    rounds.push_back(1e6 * seconds / static_cast<double>(steps));
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

}  // namespace

nlohmann::ordered_json MeasureDecisions(const DecisionBench& bench, const Agent& agent) {
  constexpr int kSkipped = 20;
  const auto scenario = CrowdOf(bench.jobs, bench.nodes_per_job, bench.lengths_known, bench.users);
  SimulatedCluster cluster(*scenario);
  const auto policy = MakeLearnedPolicy(agent, {.world = bench.world});
  policy->OnEpisodeStart({.seed = 0, .cluster = &scenario->cluster()});
  const int count = std::clamp(16000 / bench.jobs, 4, 64);
  const std::vector<Observation> moments = Moments(&cluster, *policy, kSkipped, count);

  Allocation allocation;
  const double whole =
      Microseconds(moments, [&](std::size_t m) { policy->Decide(moments[m], &allocation); });

  if (agent.weights.kind != kIndexKind) {
    return {{"jobs", moments.back().job.size()},
            {"nodes", scenario->cluster().nodes().size()},
            {"with_placement_us", whole}};
  }
  FeatureEncoder encoder(agent.lengths);
  std::vector<FeatureBatch> features(moments.size());
  const double encode =
      Microseconds(moments, [&](std::size_t m) { encoder.Encode(moments[m], &features[m]); });

  const IndexNet net{IndexNetWeights(agent.weights)};
  IndexNet::Scratch scratch;
  std::vector<std::vector<float>> scores(moments.size());
  for (std::size_t m = 0; m < moments.size(); ++m) {
    scores[m].resize(moments[m].job.size() * kIndexOutputs);
  }
  const double network = Microseconds(moments, [&](std::size_t m) {
    net.Forward(features[m].jobs, features[m].context, scores[m], &scratch);
  });

  IndexAction action;
  const double action_us = Microseconds(moments, [&](std::size_t m) {
    action.Decode(moments[m], std::span<const float>(scores[m]), &allocation);
  });
  HullFill fill;
  std::vector<std::int32_t> rows(static_cast<std::size_t>(bench.jobs));
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<Grant> grants;
  const double fill_us = Microseconds(moments, [&](std::size_t m) {
    const std::size_t n = moments[m].job.size();
    const auto* as_scores = reinterpret_cast<const Score*>(scores[m].data());
    grants.clear();
    fill.Fill(moments[m], std::span(rows).first(n), std::span(as_scores, n), &grants);
  });
  return {{"jobs", moments.back().job.size()},
          {"nodes", scenario->cluster().nodes().size()},
          {"granted", grants.size()},
          {"features_us", encode},
          {"network_us", network},
          {"fill_us", fill_us},
          {"decision_us", whole - (action_us - fill_us)},
          {"placement_us", action_us - fill_us},
          {"with_placement_us", whole}};
}

}  // namespace allot
