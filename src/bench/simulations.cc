#include "bench/simulations.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/rng.h"
#include "experiment/spec_list.h"
#include "experiment/sweep_cells.h"
#include "fidelity/gavel_reference.h"
#include "fidelity/peer.h"
#include "sched/incremental.h"
#include "sim/profile.h"
#include "sim/run.h"
#include "sweep/definition_file.h"
#include "sweep/preset.h"
#include "workload/history_file.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

nlohmann::ordered_json MeasureCrowds(const std::string& policies, int most_active) {
  Json rows = Json::array();
  for (int jobs = 100; jobs <= most_active; jobs *= 10) {
    const Scenario scenario = RigidCrowd(jobs);
    const std::int64_t decisions = std::max(50, 200000 / jobs);
    for (const std::string& spec : SplitSpecs(policies)) {
      const auto policy = MakePolicy(spec, FileLoader());
      SimulatedCluster cluster(scenario);
      IncrementalPolicy* const side = policy->incremental();
      AllocationChanges changes;
      Allocation allocation;
      policy->OnEpisodeStart({.seed = 0, .cluster = &scenario.cluster()});
      // The first decisions launch half of the jobs and take the memory that later ones reuse.
      constexpr std::int64_t kUntimed = 3;
      double start = 0;
      for (std::int64_t d = -kUntimed; d < decisions; ++d) {
        if (d == 0) start = ThreadCpuSeconds();
        // As simulated runs are decided.
        if (side != nullptr && side->DecideChanges(cluster.Observe(), &changes)) {
          cluster.ApplyChanges(changes);
        } else {
          policy->Decide(cluster.Observe(), &allocation);
          cluster.Apply(allocation);
        }
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
nlohmann::ordered_json MeasureIdle() {
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

// The cells of preset blox-fig6, with the making of their workloads.
nlohmann::ordered_json MeasureFigure6() {
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

nlohmann::ordered_json MeasureMillion(const std::string& policies) {
  ClusterSpec cluster;
  cluster.AddNodes(12500, {8, 64}, "gpu");
  SimOptions options;
  options.lengths = {LengthEstimates::Kind::kTrue, 0};
  const Scenario scenario(MillionJobs(), cluster, options);
  Json rows = Json::array();
  for (const std::string& spec : SplitSpecs(policies)) {
    const RunOutcome outcome = RunPolicy(scenario, *MakePolicy(spec, FileLoader()));
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
nlohmann::ordered_json MeasureDl2(const std::string& folder) {
  // CPU-seconds of an episode as published (docs/fidelity.md, dl2).
  const std::vector<std::pair<std::string, double>> peer = {
      {"FIFO", 8.76}, {"DRF", 2.57}, {"SRTF", 8.6}, {"Tetris", 34.6}, {"Optimus", 1.51}};
  const auto cases = Registry<PeerInfo>::Global().Get("peer", "dl2").cases(folder);
  Json rows = Json::array();
  for (const auto& [policy, seconds] : peer) {
    for (const FidelityCase& c : cases) {
      if (c.name != "mid_s1." + policy) continue;
      std::vector<double> ours;
      ours.reserve(51);
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

// As published where Gavel has the policy; the figures of its own runs, which solve and log too.
nlohmann::ordered_json MeasureGavel(const std::string& folder) {
  constexpr int kRuns = 21;
  const std::string name = "cont_single_108";
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "gavel");
  const std::filesystem::path root(folder);
  const Catalogue tables = ReadGavelTables(root);
  const auto workload = ReadGavelWorkload(root / "workloads" / (name + ".csv"));
  std::map<std::string, double> peer;
  std::optional<Scenario> scenario;
  for (const GavelRun& run : ReadGavelRuns(root)) {
    if (run.workload != name) continue;
    const auto cpu = run.figures.find("cpu_s");
    if (cpu != run.figures.end()) peer[run.policy] = cpu->second;
    if (scenario) continue;
    SimOptions options;
    profile.apply(&options);
    options.interval = run.round;
    options.seed = run.seed;
    scenario.emplace(*workload, GavelCluster(run.cluster, run.gpus_per_server), options, tables);
  }
  if (!scenario) throw DataError("{}: holds no run of '{}'", folder, name);
  Json rows = Json::array();
  for (const char* policy : {"max_min_fairness_perf", "max_min_fairness_perf-repaired",
                             "max_sum_throughput_perf-repaired", "finish_time_fairness_perf",
                             "fifo_perf", "assignment", "index", "las"}) {
    const auto made = MakePolicy(PolicySpecUnder(profile, policy), FileLoader());
    std::vector<double> ours;
    ours.reserve(kRuns);
    for (int i = 0; i < kRuns; ++i) ours.push_back(RunPolicy(*scenario, *made).cpu_s);
    std::nth_element(ours.begin(), ours.begin() + kRuns / 2, ours.end());
    Json row = {{"run", name}, {"policy", policy}, {"cpu_s", ours[kRuns / 2]}};
    if (const auto its = peer.find(policy); its != peer.end()) {
      row["peer_cpu_s"] = its->second;
      row["ratio"] = its->second / ours[kRuns / 2];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace allot
