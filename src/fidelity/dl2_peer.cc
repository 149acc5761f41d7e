// DL2 (Peng et al., TPDS 2021): workloads/NAME.{jobs.csv,meta.json}, the speed table
// speed/{types,interpolated}.csv, and per-job results of its heuristics results/NAME.jobs.csv.

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "fidelity/compare.h"
#include "fidelity/peer.h"
#include "sim/profile.h"
#include "sim/run.h"
#include "workload/csv.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

// speeds[type][servers][workers].
using SpeedTables = std::map<long long, std::vector<std::vector<double>>>;

SpeedTables ReadSpeeds(const std::string& path) {
  constexpr long long kMost = 1000;
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"type", "num_ps", "num_workers", "speed"});
  SpeedTables tables;
  while (csv.Next()) {
    csv.CheckRow();
    auto& table = tables[csv.Integer("type", 0, kMost)];
    const auto servers = static_cast<std::size_t>(csv.Integer("num_ps", 0, kMost));
    const auto workers = static_cast<std::size_t>(csv.Integer("num_workers", 0, kMost));
    if (table.size() <= servers) table.resize(servers + 1);
    if (table[servers].size() <= workers) table[servers].resize(workers + 1, 0.0);
    table[servers][workers] = csv.Number("speed");
  }
  return tables;
}

struct Dl2Workload {
  Workload workload;
  Catalogue catalogue;
  ClusterSpec cluster;
  Seconds slot = 0;
};

std::shared_ptr<const Dl2Workload> ReadDl2Workload(const fs::path& folder, const std::string& name,
                                                   const SpeedTables& speeds) {
  const std::string meta_path = (folder / "workloads" / (name + ".meta.json")).string();
  auto world = std::make_shared<Dl2Workload>();
  GpuCount most_units = 0;
  try {
    const auto meta = nlohmann::json::parse(ReadTextFile(meta_path));
    world->slot = meta.at("slot_seconds").get<double>();
    const int workers = meta.at("max_workers_per_job").get<int>();
    const int servers = meta.at("max_ps_per_job").get<int>();
    if (workers != servers) {
      throw DataError("{}: one limit for workers and servers is supported, got {} and {}",
                      meta_path, workers, servers);
    }
    most_units = workers;
    world->cluster.AddNodes(
        meta.at("num_servers").get<int>(),
        {meta.at("gpu_slots_per_server").get<int>(), meta.at("cpu_slots_per_server").get<int>()},
        "gpu");
  } catch (const nlohmann::json::exception& error) {
    throw DataError("{}: {}", meta_path, error.what());
  }

  const std::string path = (folder / "workloads" / (name + ".jobs.csv")).string();
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path,
                {"job_id", "type", "model", "arrival_slot", "num_epochs", "epoch_size",
                 "worker_cpu", "worker_gpu", "ps_cpu", "ps_gpu"});
  Workload& workload = world->workload;
  workload.name = name;
  while (csv.Next()) {
    csv.CheckRow();
    const auto speed = speeds.find(csv.Integer("type", 0, 1000));
    if (speed == speeds.end()) {
      throw DataError("{}: type {} has no speeds", csv.place(), csv.Text("type"));
    }
    const std::string model(csv.Text("model"));
    const double epoch_size = csv.Number("epoch_size");
    const auto slots = [&](std::string_view column) {
      return static_cast<std::int32_t>(csv.Integer(column, 0, 1000));
    };
    if (workload.models.Find(model) < 0) {
      auto rates = speed->second;
      for (auto& row : rates) {
        for (double& rate : row) rate = rate * world->slot / epoch_size;  // epochs a slot
      }
      world->catalogue.Add(
          MakeWorkerServerModel(model, {"worker", {slots("worker_gpu"), slots("worker_cpu")}, 4},
                                {"ps", {slots("ps_gpu"), slots("ps_cpu")}, 2}, std::move(rates)));
    }
    Job job;
    job.id = csv.Text("job_id");
    job.submit = csv.Number("arrival_slot");
    job.gpus = 1;
    job.min_gpus = 1;
    job.max_gpus = most_units;
    job.model = workload.models.Intern(model);
    job.work = csv.Number("num_epochs");
    job.duration = job.work * epoch_size / (speed->second.at(1).at(1) * world->slot);
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  return world;
}

Scenario ScenarioOf(const Dl2Workload& world, const ProfileInfo& profile) {
  SimOptions options;
  profile.apply(&options);
  options.interval = 1;  // time counts in slots, as at the peer: progress is rounded alike
  return Scenario(world.workload, world.cluster, options, world.catalogue);
}

double Dl2RepairedAverageJct(const std::string& policy, const Dl2Workload& world) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "dl2");
  const Scenario scenario = ScenarioOf(world, profile);
  const auto object = MakePolicy(PolicySpecUnder(profile, ToLower(policy) + "-repaired"));
  return AverageJct(RunPolicy(scenario, *object).records) * world.slot;
}

FidelityResult RunDl2(const fs::path& folder, const std::string& name, const std::string& policy,
                      const Dl2Workload& world) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "dl2");
  const Scenario scenario = ScenarioOf(world, profile);
  const auto object = MakePolicy(PolicySpecUnder(profile, ToLower(policy)));
  const RunOutcome outcome = RunPolicy(scenario, *object);

  const std::string path = (folder / "results" / (name + ".jobs.csv")).string();
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"policy", "job_id", "jct_slots", "completion_time_slots"},
                {"type", "arrival_slot", "completion_slot", "end_time_raw"});
  std::map<std::string, std::size_t> job_of;
  for (std::size_t j = 0; j < scenario.workload().jobs.size(); ++j) {
    job_of[scenario.workload().jobs[j].id] = j;
  }
  JobComparison comparison(1e-6);
  while (csv.Next()) {
    csv.CheckRow();
    if (csv.Text("policy") != policy) continue;
    const std::string job(csv.Text("job_id"));
    const auto known = job_of.find(job);
    if (known == job_of.end()) {
      throw DataError("{}: job '{}' is none of the {} of its workload", csv.place(), job,
                      job_of.size());
    }
    const JobRecord& ours = outcome.records[known->second];
    const double jct = ours.finish - ours.submit;
    comparison.Job(job, csv.Number("jct_slots") * world.slot, jct * world.slot,
                   csv.Number("completion_time_slots") * world.slot);
    comparison.Compare("JCT in slots", csv.Number("jct_slots"), jct);
  }
  FidelityResult result;
  result.name = name + "." + policy;
  comparison.Finish(&result);
  result.our_cpu_s = outcome.cpu_s;
  return result;
}

std::vector<FidelityCase> Dl2Cases(const std::string& folder) {
  const fs::path root(folder);
  if (!fs::is_directory(root / "results") || !fs::is_directory(root / "workloads")) {
    throw DataError(
        "a DL2 reference folder holds folders 'workloads', 'speed' and 'results', '{}' does not",
        folder);
  }
  const SpeedTables speeds = ReadSpeeds((root / "speed" / "interpolated.csv").string());
  std::vector<FidelityCase> cases;
  for (const auto& entry : fs::directory_iterator(root / "results")) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".jobs.csv")) continue;
    const std::string name = file.substr(0, file.find('.'));
    const std::string text = ReadTextFile(entry.path().string());
    CsvReader csv(
        text, entry.path().string(), {"policy", "job_id", "jct_slots"},
        {"type", "arrival_slot", "completion_slot", "end_time_raw", "completion_time_slots"});
    std::set<std::string> policies;
    while (csv.Next()) {
      csv.CheckRow();
      policies.emplace(csv.Text("policy"));
    }
    const auto world = ReadDl2Workload(root, name, speeds);
    for (const std::string& policy : policies) {
      cases.push_back({name + "." + policy,
                       [root, name, policy, world] { return RunDl2(root, name, policy, *world); },
                       [policy, world] { return Dl2RepairedAverageJct(policy, *world); }});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const FidelityCase& a, const FidelityCase& b) { return a.name < b.name; });
  return cases;
}

std::vector<PeerDefect> Dl2Defects() {
  return {
      {"a unit is tried on the least loaded server only, and the first that does not fit ends the "
       "slot for everybody",
       "option unit-by-unit:misfit=stop", "the column 'repaired' is without"},
      {"SRTF orders by the remaining fraction, not the remaining time: nearly FIFO",
       "ordering remaining-fraction", "the column 'repaired' has the remaining time"},
      {"FIFO, SRTF and Tetris give a job up to 16 workers and servers, far past the peak of every "
       "speed table",
       "rebuilt (pick=order, alignment)", "1.2 to 25 times DRF's mean JCT"},
      {"Tetris adds the remaining fraction to its score, so that long jobs go first, and gives a "
       "server up at the first misfit",
       "options alignment:prefer=long, misfit=stop", "the column 'repaired' is without"},
      {"Optimus adds single units along a measured, dented speed table and stops at the first one "
       "that saves nothing; a job at one limit is dropped",
       "rebuilt (pick=gain); allot's own optimus goes on with other jobs",
       "the column 'repaired' is without"},
      {"speeds outside the measured triangle are linear extrapolations; measured zeros stay zeros",
       "the table is input", "part of both columns"},
      {"ties are broken by object address", "not rebuilt: by job id, as in the reference runs",
       "up to 2 % of FIFO's mean JCT"},
      {"its default arrival pattern (Ali_Trace) is not in the repository", "not rebuilt",
       "the paper's own workload cannot be run by anybody"},
      {"the learner: gradients from stored probabilities, batch normalisation never trained, "
       "hand-written actions injected",
       "not rebuilt", "its own training ends at or behind DRF"},
  };
}

ALLOT_REGISTER(PeerInfo, (PeerInfo{"dl2", "DL2 (TPDS 2021), heuristics of its repository",
                                   "JCT of every job to 1e-6 slots", Dl2Defects(), Dl2Cases}));

}  // namespace
}  // namespace allot
