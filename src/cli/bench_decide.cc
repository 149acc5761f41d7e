// allot bench decide: what one decision of the learned index policy costs, by number of jobs, whole
// and by part: features with forecasts, network, fill, placement. CPU time of the process, one
// thread.
//
// The jobs are of DL2's eight types (a worker 2 CPU and mostly 4 GPU slots, a server 2 CPU slots),
// all there from the start, on two servers a job. A cluster runs them for some decisions; then each
// of the next ones is kept, and what is timed is the policy and its parts on these moments in turn.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "agents/learned/agent.h"
#include "agents/learned/index_agent.h"
#include "bench/machine.h"
#include "cli/command.h"
#include "core/cpu_time.h"
#include "core/file.h"
#include "core/rng.h"
#include "core/version.h"
#include "experiment/experiment.h"
#include "perf/dl2_job_types.h"
#include "perf/table_cache.h"
#include "sim/profile.h"
#include "sim/simulated_cluster.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct DecideOptions {
  std::vector<int> jobs = {50, 1000, 5000};
  double nodes_per_job = 2;
  std::string lengths = "known";
  int users = 0;
  std::string checkpoint;
  std::string out;
};

std::shared_ptr<const Scenario> CrowdOf(int jobs, double nodes_per_job, bool lengths_known,
                                        int users) {
  const int servers = std::max(1, static_cast<int>(nodes_per_job * jobs));
  ClusterSpec cluster;
  cluster.AddNodes(servers, {.gpus = 8, .cpus = 8}, "gpu");
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "dl2").apply(&options);
  Workload workload;
  workload.name = fmt::format("crowd-{}", jobs);
  TableCache tables(Dl2Catalogue(), {"gpu"}, {8 * servers});
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
    // Some end while the others are measured, few of all.
    job.duration = options.interval * (500 + rng.Exponential(10000));
    job.work = one.work = job.duration * one.table->reference_rate();
    one.estimate = lengths_known ? one.work : kUnknown;
    workload.jobs.push_back(std::move(job));
    facts.push_back(std::move(one));
  }
  workload.Finish();
  return std::make_shared<const Scenario>(std::move(workload), cluster, options, std::move(facts));
}

// Consecutive moments of a cluster under the policy.
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

Json MeasureDecisions(const DecideOptions& o, const Agent& agent, int jobs) {
  constexpr int kSkipped = 20;
  const auto scenario = CrowdOf(jobs, o.nodes_per_job, o.lengths == "known", o.users);
  SimulatedCluster cluster(*scenario);
  const auto policy = MakeLearnedPolicy(agent);
  policy->OnEpisodeStart({.seed = 0, .cluster = &scenario->cluster()});
  const int count = std::clamp(16000 / jobs, 4, 64);
  const std::vector<Observation> moments = Moments(&cluster, *policy, kSkipped, count);

  Allocation allocation;
  const double whole =
      Microseconds(moments, [&](std::size_t m) { policy->Decide(moments[m], &allocation); });

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
  std::vector<std::int32_t> rows(static_cast<std::size_t>(jobs));
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

int BenchDecide(const DecideOptions& o, const GlobalOptions& globals) {
  const Agent agent =
      o.checkpoint.empty()
          ? Agent{IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 16, 1), {}}
          : LoadAgent(o.checkpoint);
  Json json = {{"command", TypedCommand()}, {"version", Version()},
               {"machine", BenchMachine()}, {"hidden", agent.weights.sizes.value("hidden", 0)},
               {"lengths", o.lengths},      {"users", o.users},
               {"decisions", Json::array()}};
  for (const int jobs : o.jobs) json["decisions"].push_back(MeasureDecisions(o, agent, jobs));
  if (!o.out.empty()) WriteTextFile(o.out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("CPU microseconds of one decision\n%8s %8s %10s %10s %10s %10s %10s\n", "jobs",
              "nodes", "features", "network", "fill", "decision", "+placement");
  for (const Json& row : json["decisions"]) {
    const auto us = [&](const char* key) { return row.at(key).get<double>(); };
    std::printf("%8d %8d %10.1f %10.1f %10.1f %10.1f %10.1f\n", row.at("jobs").get<int>(),
                row.at("nodes").get<int>(), us("features_us"), us("network_us"), us("fill_us"),
                us("decision_us"), us("with_placement_us"));
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "bench decide", "CPU time of one decision of the learned policy, by its parts",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto o = std::make_shared<DecideOptions>();
                     line.Option("--jobs", o->jobs, "numbers of jobs, joined by commas")
                         .SplitAt(',')
                         .Range(1, 1000000)
                         .ShowDefault();
                     line.Option("--nodes-per-job", o->nodes_per_job,
                                 "nodes of 2 GPUs per job; below 2 jobs compete for GPUs")
                         .Range(0.01, 100.0)
                         .ShowDefault();
                     line.Option("--lengths", o->lengths,
                                 "job lengths that the policy gets: known or none")
                         .OneOf({"known", "none"})
                         .ShowDefault();
                     line.Option("--users", o->users,
                                 "number of users who submit the jobs, in turn; 0: users unknown")
                         .Range(0, 1000000)
                         .ShowDefault();
                     line.Option("--checkpoint", o->checkpoint,
                                 "weights (default: an untrained network of 16 hidden units)");
                     line.Option("-o,--out", o->out, "write the figures as JSON to this file");
                     return [o, &globals] { return BenchDecide(*o, globals); };
                   }}));

}  // namespace
}  // namespace allot
