// allot bench simulate: how much CPU simulations cost, as figures to keep (bench/results). CPU time
// of one thread; wall time plays a part only in what a second thread adds to environments.

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/env_steps.h"
#include "bench/machine.h"
#include "cli/command.h"
#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "core/version.h"
#include "experiment/experiment.h"
#include "experiment/spec_list.h"
#include "experiment/sweep_cells.h"
#include "experiment/world.h"
#include "fidelity/peer.h"
#include "sim/run.h"
#include "sweep/preset.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct SimulationOptions {
  World world;
  bool trace = false;
  bool figure6 = false;
  bool million = false;
  bool env = false;
  std::string policies = "fifo,las,srtf";
  int most_active = 100000;
  std::string dl2;
  std::string out;
};

// `jobs` one-GPU jobs at once on half as many GPUs: every decision ranks all and serves half.
Scenario RigidCrowd(int jobs) {
  Workload workload;
  workload.name = fmt::format("crowd-{}", jobs);
  Rng rng(1, "bench-crowd");
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.id = fmt::format("{}", i);
    job.gpus = 1;
    job.duration = 1e6 + rng.Exponential(1e6);
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  ClusterSpec cluster;
  cluster.AddNodes(std::max(1, jobs / 16), {8, 64}, "gpu");
  SimOptions options;
  options.lengths = {LengthEstimates::Kind::kTrue, 0};
  return Scenario(std::move(workload), cluster, options);
}

Json BenchCrowds(const SimulationOptions& o) {
  Json rows = Json::array();
  for (int jobs = 100; jobs <= o.most_active; jobs *= 10) {
    const Scenario scenario = RigidCrowd(jobs);
    const std::int64_t decisions = std::max(50, 200000 / jobs);
    for (const std::string& spec : SplitSpecs(o.policies)) {
      const auto policy = MakePolicy(spec);
      SimulatedCluster cluster(scenario);
      Allocation allocation;
      policy->OnEpisodeStart({.seed = 0, .cluster = &scenario.cluster()});
      // The first decisions launch half of the jobs and take the memory that later ones reuse.
      constexpr std::int64_t kUntimed = 3;
      double start = 0;
      for (std::int64_t d = -kUntimed; d < decisions; ++d) {
        if (d == 0) start = ThreadCpuSeconds();
        policy->DecideChanges(cluster.Observe(), &allocation);  // as simulated runs are decided
        cluster.Apply(allocation);
        cluster.WaitForChange(0);  // called at every interval, whatever it promises
      }
      const double us = 1e6 * (ThreadCpuSeconds() - start) / static_cast<double>(decisions);
      rows.push_back({{"active_jobs", jobs},
                      {"policy", spec},
                      {"cpu_us_per_decision", us},
                      {"cpu_ns_per_job", 1e3 * us / jobs}});
    }
  }
  return rows;
}

// Ten jobs of a year each: the clock passes 100,000 rounds in which nothing can change.
Json BenchIdle() {
  Workload workload;
  workload.name = "idle";
  for (int i = 0; i < 10; ++i) {
    Job job;
    job.id = fmt::format("{}", i);
    job.submit = 3e6 * i;
    job.duration = 3e7;
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("2x8"), {});
  const RunOutcome outcome = RunPolicy(scenario, *MakePolicy("las"));
  return {{"rounds", outcome.records.back().finish / scenario.options().interval},
          {"decisions", outcome.drive.decisions},
          {"cpu_us", 1e6 * outcome.cpu_s}};
}

Json BenchTrace(SimulationOptions& o) {
  const double start = ThreadCpuSeconds();
  const auto scenarios = o.world.Scenarios();
  const double read = ThreadCpuSeconds() - start;
  std::fputs(o.world.ReadNote().c_str(), stderr);
  Json rows = Json::array();
  for (const std::string& spec : SplitSpecs(o.policies)) {
    const Scenario& scenario = *scenarios.front().scenario;
    const RunOutcome outcome = RunPolicy(scenario, *o.world.MakePolicy(spec));
    rows.push_back({{"workload", scenario.workload().name},
                    {"jobs", scenario.workload().jobs.size()},
                    {"gpus", scenario.cluster().total().gpus},
                    {"policy", spec},
                    {"decisions", outcome.drive.decisions},
                    {"cpu_s", outcome.cpu_s},
                    {"read_cpu_s", read}});
  }
  return rows;
}

// The cells of preset blox-fig6, with the making of their workloads.
Json BenchFigure6() {
  const std::string preset = "blox-fig6";
  const SweepDefinition definition =
      SweepFromJson(ParseToml(Registry<SweepPreset>::Global().Get("preset", preset).toml, preset),
                    SweepableOptions(), preset);
  const double start = ThreadCpuSeconds();
  SweepCells cells(definition, 3);  // as a sweep on one thread keeps
  const std::vector<CellValues> all = CellsOf(definition);
  for (const CellValues& cell : all) cells.Run(cell);
  return {{"preset", preset}, {"cells", all.size()}, {"cpu_s", ThreadCpuSeconds() - start}};
}

// A million jobs at 0.95 of 12,500 nodes of 8 GPUs: most of one GPU, lengths log-normal with a
// median of 10 minutes and a mean of hours, arrivals evenly at random.
Workload MillionJobs() {
  constexpr double kLoad = 0.95;
  constexpr double kGpus = 100000;
  constexpr std::array<std::pair<GpuCount, double>, 6> kSizes = {
      {{1, 0.70}, {2, 0.80}, {4, 0.88}, {8, 0.96}, {16, 0.99}, {32, 1.0}}};
  Workload workload;
  workload.name = "million";
  workload.jobs.resize(1000000);
  Rng rng(1, "bench-million");
  double work = 0;
  double sum = 0;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    Job& job = workload.jobs[i];
    const double size = rng.Uniform();
    job.id = fmt::format("{}", i);
    job.gpus = std::find_if(kSizes.begin(), kSizes.end(), [&](const auto& each) {
                 return size < each.second;
               })->first;
    job.duration = std::clamp(600 * std::exp(2.6 * rng.Normal()), 10.0, 30 * 86400.0);
    work += job.gpus * job.duration;
    sum += rng.Exponential(1);
    job.submit = sum;
  }
  const double scale = work / (kLoad * kGpus) / sum;
  for (Job& job : workload.jobs) job.submit *= scale;
  workload.Finish();
  return workload;
}

Json BenchMillion(const SimulationOptions& o) {
  ClusterSpec cluster;
  cluster.AddNodes(12500, {8, 64}, "gpu");
  SimOptions options;
  options.lengths = {LengthEstimates::Kind::kTrue, 0};
  const Scenario scenario(MillionJobs(), cluster, options);
  Json rows = Json::array();
  for (const std::string& spec : SplitSpecs(o.policies)) {
    const RunOutcome outcome = RunPolicy(scenario, *MakePolicy(spec));
    std::int32_t most = 0;
    for (const TimelinePoint& point : outcome.timeline) most = std::max(most, point.active);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    rows.push_back({{"jobs", scenario.workload().jobs.size()},
                    {"gpus", scenario.cluster().total().gpus},
                    {"policy", spec},
                    {"decisions", outcome.drive.decisions},
                    {"most_active_jobs", most},
                    {"cpu_s", outcome.cpu_s},
                    {"peak_memory_mib", usage.ru_maxrss / 1024}});
  }
  return rows;
}

// Median of 51 runs each of DL2's heuristics on its mid_s1, against what its Python needed.
Json BenchDl2(const std::string& folder) {
  // CPU-seconds of an episode as published (docs/fidelity.md, dl2).
  const std::vector<std::pair<std::string, double>> peer = {
      {"FIFO", 8.76}, {"DRF", 2.57}, {"SRTF", 8.6}, {"Tetris", 34.6}, {"Optimus", 1.51}};
  const auto cases = Registry<PeerInfo>::Global().Get("peer", "dl2").cases(folder);
  Json rows = Json::array();
  for (const auto& [policy, seconds] : peer) {
    for (const FidelityCase& c : cases) {
      if (c.name != "mid_s1." + policy) continue;
      std::vector<double> ours;
      for (int i = 0; i < 51; ++i) ours.push_back(c.run().our_cpu_s);
      std::nth_element(ours.begin(), ours.begin() + 25, ours.end());
      rows.push_back({{"run", c.name},
                      {"cpu_s", ours[25]},
                      {"peer_cpu_s", seconds},
                      {"ratio", seconds / ours[25]}});
    }
  }
  return rows;
}

void PrintRows(const char* title, const Json& rows) {
  std::printf("%s\n", title);
  for (const Json& row : rows) {
    std::string line;
    for (const auto& [key, value] : row.items()) {
      line += value.is_number_float() ? fmt::format("  {} {:.4g}", key, value.get<double>())
                                      : fmt::format("  {} {}", key, value.dump());
    }
    std::printf(" %s\n", line.c_str());
  }
}

int BenchSimulate(SimulationOptions& o, const GlobalOptions& globals) {
  Json json = {{"command", TypedCommand()}, {"version", Version()}, {"machine", BenchMachine()}};
  if (o.million) json["million"] = BenchMillion(o);  // first: its peak of memory is the process'
  json["active_jobs"] = BenchCrowds(o);
  json["idle"] = BenchIdle();
  if (o.trace) json["trace"] = BenchTrace(o);
  if (!o.dl2.empty()) json["dl2"] = BenchDl2(o.dl2);
  if (o.figure6) json["figure6"] = BenchFigure6();
  if (o.env) json["env"] = BenchEnv();
  json["machine"]["load_at_end"] = LoadAverage();
  if (!o.out.empty()) WriteTextFile(o.out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  if (o.million) PrintRows("a million jobs on 100,000 GPUs", json["million"]);
  PrintRows("CPU per decision against active jobs", json["active_jobs"]);
  PrintRows("rounds in which nothing can change", Json::array({json["idle"]}));
  if (o.trace) PrintRows("trace", json["trace"]);
  if (!o.dl2.empty()) PrintRows("DL2's heuristics on its mid_s1", json["dl2"]);
  if (o.figure6) PrintRows("Figure 6 of Blox", Json::array({json["figure6"]}));
  if (o.env)
    PrintRows("environments", Json::array({json["env"]["sequence"], json["env"]["vector"]}));
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{"bench simulate",
                 "CPU time of simulations: per decision, idle, on traces, of peers' sets, of envs",
                 [](CommandLine& line, const GlobalOptions& globals) {
                   auto o = std::make_shared<SimulationOptions>();
                   o->world.Declare(line);
                   line.Flag("--trace", o->trace, "also simulate --workload on --cluster");
                   line.Flag("--figure6", o->figure6, "also run the cells of preset blox-fig6");
                   line.Flag("--million", o->million,
                             "also simulate 1,000,000 jobs on 100,000 GPUs");
                   line.Flag("--env", o->env, "also step environments");
                   line.Option("--policies", o->policies, "policies to run").ShowDefault();
                   line.Option("--max-active", o->most_active,
                               "largest number of active jobs; starts at 100, grows tenfold")
                       .Range(100, 1000000)
                       .ShowDefault();
                   line.Renamed("--most-active", "--max-active");
                   line.Option("--dl2", o->dl2, "DL2's reference folder: also run its heuristics");
                   line.Option("-o,--out", o->out, "write the figures as JSON to this file");
                   return [o, &globals] { return BenchSimulate(*o, globals); };
                 }}));

}  // namespace
}  // namespace allot
