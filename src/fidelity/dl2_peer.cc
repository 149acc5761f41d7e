// DL2 (Peng et al., TPDS 2021): workloads/NAME.{jobs.csv,meta.json}, the speed table
// speed/{types,interpolated}.csv, and per-job results of its heuristics results/NAME.jobs.csv.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "fidelity/compare.h"
#include "fidelity/peer.h"
#include "fidelity/reference.h"
#include "sim/profile.h"
#include "sim/run.h"
#include "table/csv.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr long long kMostTypes = 1000;
constexpr long long kMostUnits = 1000;  // of a kind, of one job

struct SpeedTables {
  std::string path;
  std::size_t most = 0;  // servers and workers each go from 1 to this
  std::map<long long, std::vector<std::vector<double>>> of;  // [type][servers][workers]
};

// Every type has a speed for every number of servers and workers: 0 would pass for one that is
// missing. An interpolated zero may be a little less than 0.
SpeedTables ReadSpeeds(const std::string& path) {
  constexpr double kLeastSpeed = -1e-9;
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"type", "num_ps", "num_workers", "speed"});
  SpeedTables tables;
  tables.path = path;
  using Key = std::array<long long, 3>;        // type, servers, workers
  std::map<Key, std::pair<int, double>> rows;  // line and speed
  std::set<long long> types;
  long long most = 0;
  while (csv.Next()) {
    csv.CheckRow();
    const Key key = {csv.Integer("type", 1, kMostTypes), csv.Integer("num_ps", 1, kMostUnits),
                     csv.Integer("num_workers", 1, kMostUnits)};
    const double speed = csv.Number("speed");
    if (!(speed >= kLeastSpeed)) {
      throw DataError("{}: 'speed' must be >= 0, got {}", csv.place(), speed);
    }
    const auto [first, added] = rows.emplace(key, std::pair(csv.line(), speed));
    if (!added) {
      throw DataError(
          "{}: type {} must have 1 speed of {} servers and {} workers, got {} in line {} and {} "
          "here",
          csv.place(), key[0], key[1], key[2], first->second.second, first->second.first, speed);
    }
    types.insert(key[0]);
    most = std::max({most, key[1], key[2]});
  }
  tables.most = static_cast<std::size_t>(most);
  for (const long long type : types) {
    auto& table = tables.of[type];
    table.assign(tables.most + 1, std::vector<double>(tables.most + 1, 0.0));
    for (long long servers = 1; servers <= most; ++servers) {
      for (long long workers = 1; workers <= most; ++workers) {
        const auto row = rows.find({type, servers, workers});
        if (row == rows.end()) {
          throw DataError(
              "{}: every type must have a speed of 1 to {} servers and workers, type {} has none "
              "of {} servers and {} workers",
              path, most, type, servers, workers);
        }
        table[static_cast<std::size_t>(servers)][static_cast<std::size_t>(workers)] =
            row->second.second;
      }
    }
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
  const ReferenceFacts meta((folder / "workloads" / (name + ".meta.json")).string());
  auto world = std::make_shared<Dl2Workload>();
  world->slot = meta.Number("slot_seconds", 1, kLongestRound);
  const auto most_units = meta.Integer("max_workers_per_job", 1, kMostUnits);
  if (const auto servers = meta.Integer("max_ps_per_job", 1, kMostUnits); servers != most_units) {
    throw DataError("{}: one limit for workers and servers is supported, got {} and {}",
                    meta.path(), most_units, servers);
  }
  // Policies look one step past what a job may hold.
  if (static_cast<std::size_t>(most_units) >= speeds.most) {
    throw DataError("{}: speeds must go to 1 more than 'max_workers_per_job', got {} in {} for {}",
                    meta.path(), speeds.most, speeds.path, most_units);
  }
  const Resources server = {
      static_cast<std::int32_t>(meta.Integer("gpu_slots_per_server", 1, kMaxGpusPerNode)),
      static_cast<std::int32_t>(meta.Integer("cpu_slots_per_server", 1, kMostReferenceCpus))};
  world->cluster.AddNodes(
      static_cast<std::int32_t>(meta.Integer("num_servers", 1, kMostReferenceNodes)), server,
      "gpu");

  const std::string path = (folder / "workloads" / (name + ".jobs.csv")).string();
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path,
                {"job_id", "type", "model", "arrival_slot", "num_epochs", "epoch_size",
                 "worker_cpu", "worker_gpu", "ps_cpu", "ps_gpu"});
  Workload& workload = world->workload;
  workload.name = name;
  const auto positive = [&csv](std::string_view column) {
    const double value = csv.Number(column);
    if (!(value > 0)) throw DataError("{}: '{}' must be > 0, got {}", csv.place(), column, value);
    return value;
  };
  const auto slots = [&csv](std::string_view column, std::int32_t most) {
    return static_cast<std::int32_t>(csv.Integer(column, 0, most));
  };
  struct Type {
    std::string text;
    int line = 0;
  };
  std::map<std::string, Type> type_of;  // by model
  while (csv.Next()) {
    csv.CheckRow();
    const auto speed = speeds.of.find(csv.Integer("type", 1, kMostTypes));
    if (speed == speeds.of.end()) {
      throw DataError("{}: type {} has no speeds", csv.place(), csv.Text("type"));
    }
    const std::string model(csv.Text("model"));
    const double epoch_size = positive("epoch_size");
    const Resources worker = {slots("worker_gpu", server.gpus), slots("worker_cpu", server.cpus)};
    const Resources ps = {slots("ps_gpu", server.gpus), slots("ps_cpu", server.cpus)};
    // A model is made from its first job: the others must say the same of it.
    const std::string type = fmt::format(
        "of type {} and epoch size {}, a worker {} and {} GPU and CPU slots, a server {} and {}",
        speed->first, epoch_size, worker.gpus, worker.cpus, ps.gpus, ps.cpus);
    if (const auto [first, added] = type_of.try_emplace(model, Type{type, csv.line()});
        !added && first->second.text != type) {
      throw DataError("{}: jobs of one model must be alike, '{}' is {} here and {} in line {}",
                      csv.place(), model, type, first->second.text, first->second.line);
    }
    if (workload.models.Find(model) < 0) {
      auto rates = speed->second;
      for (auto& row : rates) {
        for (double& rate : row) rate = rate * world->slot / epoch_size;  // epochs a slot
      }
      world->catalogue.Add(
          MakeWorkerServerModel(model, {"worker", worker, 4}, {"ps", ps, 2}, std::move(rates)));
    }
    Job job;
    job.id = csv.Text("job_id");
    job.submit = csv.Number("arrival_slot");
    job.gpus = 1;
    job.min_gpus = 1;
    job.max_gpus = static_cast<GpuCount>(most_units);
    job.model = workload.models.Intern(model);
    job.work = positive("num_epochs");
    job.duration = job.work * epoch_size / (speed->second.at(1).at(1) * world->slot);
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  meta.Expect("num_jobs", workload.jobs.size(), "the rows of " + path);
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
  RollCall roll(scenario.workload(), name + "." + policy, path);
  JobComparison comparison(1e-6);
  while (csv.Next()) {
    csv.CheckRow();
    if (csv.Text("policy") != policy) continue;
    const JobRecord& ours = outcome.records[roll.Take(csv)];
    const double jct = ours.finish - ours.submit;
    comparison.Job(csv.Text("job_id"), csv.Number("jct_slots") * world.slot, jct * world.slot,
                   csv.Number("completion_time_slots") * world.slot);
    comparison.Compare("JCT in slots", csv.Number("jct_slots"), jct);
    comparison.Compare("completion in slots", csv.Number("completion_time_slots"), ours.finish);
  }
  roll.Finish();
  FidelityResult result;
  result.name = name + "." + policy;
  comparison.Finish(&result);
  result.our_cpu_s = outcome.cpu_s;
  return result;
}

// Of any file in the folder; all files that a workload needs must be there.
std::set<std::string> WorkloadNames(const fs::path& root) {
  std::set<std::string> names;
  for (const char* part : {"workloads", "results"}) {
    for (const auto& entry : fs::directory_iterator(root / part)) {
      const std::string file = entry.path().filename().string();
      for (const std::string_view suffix : {".jobs.csv", ".meta.json", ".summary.csv"}) {
        if (file.ends_with(suffix)) names.insert(file.substr(0, file.size() - suffix.size()));
      }
    }
  }
  for (const std::string& name : names) {
    for (const fs::path& file :
         {root / "workloads" / (name + ".meta.json"), root / "workloads" / (name + ".jobs.csv"),
          root / "results" / (name + ".jobs.csv")}) {
      if (!fs::exists(file)) {
        throw DataError("{}: workload '{}' needs the file {}, there is none", root.string(), name,
                        file.string());
      }
    }
  }
  return names;
}

// Those with rows, and those that the summary names: a run without rows is then missed by its roll
// call.
std::set<std::string> PoliciesOf(const fs::path& root, const std::string& name, std::size_t jobs) {
  const std::vector<std::string> known = {"DRF", "FIFO", "Optimus", "SRTF", "Tetris"};
  std::set<std::string> policies;
  const auto add = [&](CsvReader& csv) {
    while (csv.Next()) {
      csv.CheckRow();
      const std::string policy(csv.Text("policy"));
      if (std::find(known.begin(), known.end(), policy) == known.end()) {
        throw DataError("{}: 'policy' must be one of {}, got '{}'", csv.place(), Join(known, ", "),
                        policy);
      }
      policies.insert(policy);
      if (csv.Has("num_jobs")) {
        const auto count = csv.Integer("num_jobs", 0, INT64_MAX);
        if (static_cast<std::size_t>(count) != jobs) {
          throw DataError("{}: 'num_jobs' must be {} as in the workload, got {}", csv.place(), jobs,
                          count);
        }
      }
    }
  };
  const std::string path = (root / "results" / (name + ".jobs.csv")).string();
  const std::string text = ReadTextFile(path);
  CsvReader rows(
      text, path, {"policy", "job_id", "jct_slots"},
      {"type", "arrival_slot", "completion_slot", "end_time_raw", "completion_time_slots"});
  add(rows);
  if (policies.empty()) throw DataError("{}: must hold the rows of {} jobs, got none", path, jobs);
  const std::string summary_path = (root / "results" / (name + ".summary.csv")).string();
  if (!fs::exists(summary_path)) return policies;
  const std::string summary_text = ReadTextFile(summary_path);
  CsvReader summary(summary_text, summary_path, {"policy", "num_jobs"},
                    {"avg_jct_slots", "makespan_slots", "num_slots_simulated",
                     "avg_reward_per_slot", "total_reward"});
  add(summary);
  return policies;
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
  for (const std::string& name : WorkloadNames(root)) {
    const auto world = ReadDl2Workload(root, name, speeds);
    for (const std::string& policy : PoliciesOf(root, name, world->workload.jobs.size())) {
      cases.push_back({fmt::format("{}.{}", name, policy),
                       [root, name, policy, world] { return RunDl2(root, name, policy, *world); },
                       [policy, world] { return Dl2RepairedAverageJct(policy, *world); }});
    }
  }
  if (cases.empty()) throw DataError("{}: a reference folder holds runs, got none", folder);
  std::sort(cases.begin(), cases.end(),
            [](const FidelityCase& a, const FidelityCase& b) { return a.name < b.name; });
  return cases;
}

std::vector<PeerDefect> Dl2Defects() {
  return {
      {"a unit is tried on the least loaded server only, and the first that does not fit ends the "
       "slot for all jobs",
       "option unit-by-unit:misfit=stop", "column 'repaired' is without it"},
      {"SRTF orders by the remaining fraction, not the remaining time: nearly FIFO",
       "ordering remaining-fraction", "column 'repaired' has the remaining time"},
      {"FIFO, SRTF and Tetris give a job up to 16 workers and servers, far past the peak of every "
       "speed table",
       "rebuilt (pick=order, alignment)", "1.2 to 25 times DRF's mean JCT"},
      {"Tetris adds the remaining fraction to its score, so that long jobs go first, and stops "
       "filling a server at the first unit that does not fit",
       "options alignment:prefer=long, misfit=stop", "column 'repaired' is without them"},
      {"Optimus adds single units along a measured speed table with dips and stops at the first "
       "one "
       "that saves nothing; a job at one limit is dropped",
       "rebuilt (pick=gain); allot's own optimus continues with other jobs",
       "column 'repaired' is without it"},
      {"speeds outside the measured triangle are linear extrapolations; measured zeros stay zeros",
       "the table is input", "part of both columns"},
      {"ties are broken by object address", "not rebuilt: by job id, as in the reference runs",
       "up to 2 % of FIFO's mean JCT"},
      {"its default arrival pattern (Ali_Trace) is not in the repository", "not rebuilt",
       "the workload of the paper cannot be run"},
      {"the learner: gradients from stored probabilities, batch normalisation never trained, "
       "hand-written actions injected",
       "not rebuilt", "its own training ends at or behind DRF"},
  };
}

ALLOT_REGISTER(PeerInfo,
               (PeerInfo{"dl2", "DL2 (TPDS 2021), heuristics of its repository",
                         "JCT and completion of every job to 1e-6 slots", Dl2Defects(), Dl2Cases}));

}  // namespace
}  // namespace allot
