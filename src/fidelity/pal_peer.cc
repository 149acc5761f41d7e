// PAL (Jain et al., SC'24), a fork of Blox' simulator with GPUs that differ: runs/RUN/ with
// run.json (placement, scheduler, cluster, penalty), jobs.csv (jobs with their first start and end)
// and gpus.csv (slowness of each GPU by class of jobs).
//
// The rounds are those of the profile `blox`. A job's rate is that of the median GPU on one node,
// divided by the slowness of its slowest GPU and, on several nodes, by a penalty.

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>

#include "cluster/gpu_slowness.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
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

const std::vector<std::string>& Classes() {
  static const std::vector<std::string> classes = {"classA", "classB", "classC", "classD"};
  return classes;
}

// Our placement that is one of the peer's.
struct PlacementSpec {
  std::string rule;
  std::string published;  // parameters that the repaired one does without
};

using Placements = std::map<std::string, PlacementSpec>;
const Placements& KnownPlacements() {
  // It has drawn the slowness of each GPU from tables of so many rows, one a class, before.
  static const std::string random = "rule=random/drawn=1404|1096|1096|880";
  static const Placements known = {{"Default-Packed-S", {"rule=packed", "victims=true"}},
                                   {"Default-Packed-NS", {"rule=packed", "anew=true"}},
                                   {"Default-Random-S", {random, "victims=true"}},
                                   {"Default-Random-NS", {random, "anew=true"}},
                                   {"PMFirst", {"rule=pmfirst", "groups=2/anew=true"}},
                                   {"PAL", {"rule=pal", "groups=2/anew=true"}}};
  return known;
}

const std::map<std::string, std::string>& KnownPolicies() {
  static const std::map<std::string, std::string> known = {
      {"Fifo", "fifo"}, {"Las", "las"}, {"Srtf", "srtf"}};
  return known;
}

template <typename Value>
const Value& Choice(const ReferenceFacts& facts, const char* key,
                    const std::map<std::string, Value>& known) {
  const auto found = known.find(facts.Text(key));
  if (found != known.end()) return found->second;
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const auto& [name, value] : known) names.push_back(name);
  throw DataError("{}: '{}' must be one of {}, got '{}'", facts.path(), key, Join(names, ", "),
                  facts.Text(key));
}

// Work is seconds on the median GPU.
class PenaltyModel final : public ThroughputModel {
 public:
  PenaltyModel(std::string name, double penalty) : name_(std::move(name)), penalty_(penalty) {}

  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  bool varies() const override { return true; }
  double Rate(const RunShape& shape, const TrainingState& /*state*/) const override {
    return shape.nodes.size() > 1 ? 1 / penalty_ : 1;
  }

 private:
  std::string name_;
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
  double penalty_;
};

struct PeerTimes {
  Seconds first_start = 0;
  Seconds end = 0;
};

struct PalRun {
  std::string name;
  std::string policy;
  PlacementSpec placement;
  Seconds round = 0;
  double penalty = 1;
  ClusterSpec cluster;
  Workload workload;
  std::vector<PeerTimes> times;  // of the first jobs, which are tracked; the others compete
  double cpu_s = kUnknown;
};

// Returns the number of tracked jobs.
std::size_t ReadFacts(const ReferenceFacts& facts, PalRun* run) {
  constexpr double kMostPenalty = 1e6;
  constexpr std::int64_t kMostJobs = 1'000'000;
  run->policy = Choice(facts, "scheduler", KnownPolicies());
  run->placement = Choice(facts, "placement", KnownPlacements());
  run->round = facts.Number("round_s", 1, kLongestRound);
  run->penalty = facts.Number("locality", 1, kMostPenalty);
  run->cluster.AddNodes(
      static_cast<std::int32_t>(facts.Integer("machines", 1, kMostReferenceNodes)),
      {static_cast<GpuCount>(facts.Integer("gpus", 1, kMaxGpusPerNode)), 0}, "gpu");
  run->cpu_s = facts.Number("cpu_s", 0, kNever);
  return static_cast<std::size_t>(facts.Integer("finished", 1, kMostJobs));
}

void ReadGpus(const std::string& path, ClusterSpec* cluster) {
  const std::string text = ReadTextFile(path);
  std::vector<std::string> columns = {"gpu", "node"};
  std::vector<std::string> groups;  // what it takes the GPUs to be; the placement finds it
  for (const std::string& each : Classes()) {
    columns.push_back(each);
    groups.push_back("bin_" + each);
  }
  CsvReader csv(text, path, columns, groups);
  auto slowness = std::make_shared<GpuSlowness>(*cluster);
  std::int64_t row = 0;
  for (NodeIndex node = 0; At(node) < cluster->nodes().size(); ++node) {
    for (GpuCount gpu = 0; gpu < cluster->nodes()[At(node)].capacity.gpus; ++gpu, ++row) {
      if (!csv.Next()) {
        throw DataError("{}: must have a row for each of {} GPUs, got {}", path,
                        cluster->total().gpus, row);
      }
      csv.CheckRow();
      csv.Integer("gpu", row, row);  // in order
      csv.Integer("node", node, node);
      for (const std::string& each : Classes()) {
        const double value = csv.Number(each);
        if (!(value > 0)) throw DataError("{}: '{}' must be > 0, got {}", csv.place(), each, value);
        slowness->Set(each, node, gpu, value);
      }
    }
  }
  cluster->SetSlowness(std::move(slowness));
}

void ReadJobs(const std::string& path, std::size_t tracked, PalRun* run) {
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path,
                {"job", "submit_s", "gpus", "model", "class", "iterations", "iteration_s",
                 "first_start_s", "end_s"});
  Workload& workload = run->workload;
  workload.name = run->name;
  while (csv.Next()) {
    csv.CheckRow();
    const auto number = std::ssize(workload.jobs);
    csv.Integer("job", number, number);  // in order
    const std::string of_class(csv.Text("class"));
    if (std::ranges::find(Classes(), of_class) == Classes().end()) {
      throw DataError("{}: 'class' must be one of {}, got '{}'", csv.place(), Join(Classes(), ", "),
                      of_class);
    }
    Job job;
    job.id = csv.Text("job");
    job.submit = csv.Number("submit_s");
    job.gpus = static_cast<GpuCount>(csv.Integer("gpus", 1, run->cluster.total().gpus));
    job.duration = csv.Number("iterations") * csv.Number("iteration_s");
    job.work = job.duration;
    job.model = workload.models.Intern(of_class);
    if (run->times.size() < tracked) {
      run->times.push_back({csv.Number("first_start_s"), csv.Number("end_s")});
    }
    workload.jobs.push_back(std::move(job));
  }
  if (run->times.size() < tracked) {
    throw DataError("{}: must have a row for each of {} tracked jobs, got {}", path, tracked,
                    run->times.size());
  }
  workload.Finish();
}

PalRun ReadPalRun(const fs::path& folder) {
  PalRun run;
  run.name = folder.filename().string();
  const ReferenceFacts facts((folder / "run.json").string());
  const std::size_t tracked = ReadFacts(facts, &run);
  ReadGpus((folder / "gpus.csv").string(), &run.cluster);
  ReadJobs((folder / "jobs.csv").string(), tracked, &run);
  // The mean that the peer computed is that of these rows, unless one was changed.
  double sum = 0;
  for (std::size_t i = 0; i < tracked; ++i) sum += run.times[i].end - run.workload.jobs[i].submit;
  const double mean = sum / static_cast<double>(tracked);
  constexpr double kMeanRounding = 1e-3;
  facts.Number("mean_jct_s", mean - kMeanRounding, mean + kMeanRounding);
  return run;
}

// With records of the tracked jobs alone.
RunOutcome PlayPal(const PalRun& run, const std::string& policy, const std::string& more) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "blox");
  SimOptions options;
  profile.apply(&options);
  options.interval = run.round;
  Catalogue catalogue;
  for (const std::string& each : Classes()) {
    catalogue.Add(std::make_shared<PenaltyModel>(each, run.penalty), each);
  }
  // It orders by lengths without slowness and penalty; tables have the penalty of jobs that are
  // larger than a node.
  std::vector<double> estimates;
  for (const Job& job : run.workload.jobs) {
    const bool larger = job.gpus > run.cluster.nodes().front().capacity.gpus;
    estimates.push_back(larger ? job.duration / run.penalty : job.duration);
  }
  const Scenario scenario(run.workload, run.cluster, options, catalogue, estimates);
  const auto object =
      MakePolicy(PolicySpecUnder(profile, fmt::format("{}:placement=pal/{}/penalty={}{}", policy,
                                                      run.placement.rule, run.penalty, more)));
  RunOptions of_run;
  of_run.tracked = {0, static_cast<JobIndex>(run.times.size()) - 1};
  of_run.time_decisions = false;
  RunOutcome outcome = RunPolicy(scenario, *object, {}, {}, of_run);
  outcome.records.resize(run.times.size());
  return outcome;
}

FidelityResult RunPal(const PalRun& run) {
  const RunOutcome outcome = PlayPal(run, run.policy, "/" + run.placement.published);
  JobComparison comparison(0.5);
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    const JobRecord& ours = outcome.records[i];
    const PeerTimes& theirs = run.times[i];
    comparison.Job(run.workload.jobs[i].id, theirs.end - ours.submit, ours.finish - ours.submit,
                   theirs.end);
    comparison.Compare("first start", theirs.first_start, ours.first_start);
    comparison.Compare("end", theirs.end, ours.finish);
  }
  FidelityResult result;
  result.name = run.name;
  comparison.Finish(&result);
  result.peer_cpu_s = run.cpu_s;
  result.our_cpu_s = outcome.cpu_s;
  return result;
}

std::vector<FidelityCase> PalCases(const std::string& folder) {
  const fs::path runs = fs::path(folder) / "runs";
  if (!fs::is_directory(runs)) {
    throw DataError("a PAL reference folder holds a folder 'runs', '{}' has none", folder);
  }
  std::vector<FidelityCase> cases;
  for (const auto& entry : fs::directory_iterator(runs)) {
    const auto run = std::make_shared<const PalRun>(ReadPalRun(entry.path()));
    cases.push_back(
        {run->name, [run] { return RunPal(*run); },
         [run] { return AverageJct(PlayPal(*run, run->policy + "-repaired", "").records); }});
  }
  if (cases.empty()) throw DataError("{}: a reference folder holds runs, got none", folder);
  std::ranges::sort(cases, {}, &FidelityCase::name);
  return cases;
}

std::vector<PeerDefect> PalDefects() {
  return {
      {"the slowness of a GPU is that of a single run, drawn at random: of 64 GPUs one is 2.83 "
       "times slow for ever for class A, all others at most 1.15 times",
       "the slowness is input (gpus.csv, --slowness)",
       "bench/pal_worlds.py: PAL's mean JCT is 0.81 +- 0.13 of Packed-S where single runs are "
       "drawn, 0.988 +- 0.006 where medians of GPUs are"},
      {"the search for the number of groups of GPUs returns after its first try: 2 and one for "
       "each outlier",
       "option groups=2; by default each GPU has its own slowness",
       "column 'repaired' is without it"},
      {"a job that was stopped for one that still does not fit stays stopped (Packed-S, Random-S)",
       "option victims=true", "column 'repaired' is without it"},
      {"PMFirst, PAL and the -NS rules place all jobs anew in each round, and a change costs "
       "nothing",
       "option anew=true; restart_cost of the profile", "column 'repaired' keeps running jobs"},
      {"jobs larger than a node are placed without regard to nodes", "rebuilt",
       "PAL differs from PMFirst for 2 to 4 GPUs only"},
      {"one penalty for all jobs on several nodes; its table by model (1.0 to 1.25) is not used",
       "rebuilt ('locality' in run.json)", "part of both columns"},
      {"Srtf orders by lengths without slowness and penalty", "rebuilt: estimates of the run",
       "part of both columns"},
      {"on more than 16 nodes the order of equal nodes follows an unstable sort", "not rebuilt",
       "the reference has no such run"},
      {"under -NS rules the 1000 hours of waiting include the round that stopped the job",
       "not rebuilt: they begin one round later", "the reference has no such run"},
  };
}

ALLOT_REGISTER(PeerInfo, (PeerInfo{"pal", "PAL (SC'24), simulator of its artifact",
                                   "first start and end of every tracked job equal to the second",
                                   PalDefects(), PalCases}));

}  // namespace
}  // namespace allot
