// Blox (Agarwal et al., EuroSys'24): workloads wN-*.csv, and per run
// results/WORKLOAD.POLICY.PLACEMENT.ADMISSION.{jobs.csv,summary.json}.

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
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

struct BloxJobs {
  Workload workload;
  bool one_gpu = true;  // every job asks for one GPU
};

BloxJobs ReadBloxWorkload(const std::string& path) {
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"job_id", "submit_s", "num_gpus", "duration_s"},
                {"model", "iteration_time_s", "total_iterations"});
  BloxJobs jobs;
  jobs.workload.name = fs::path(path).stem().string();
  while (csv.Next()) {
    csv.CheckRow();
    Job job;
    job.id = csv.Text("job_id");
    job.submit = csv.Number("submit_s");
    job.gpus = static_cast<GpuCount>(csv.Integer("num_gpus", 1, kMaxGpusPerJob));
    job.duration = csv.Number("duration_s");
    jobs.one_gpu = jobs.one_gpu && job.gpus == 1;
    jobs.workload.jobs.push_back(std::move(job));
  }
  jobs.workload.Finish();
  return jobs;
}

// What a run's name and summary say it is.
struct BloxRun {
  fs::path folder;
  std::string name, workload, policy, placement, admission;
  Seconds round = 0;
  std::string load;
  std::int32_t nodes = 0;
  GpuCount gpus_per_node = 0;
};

std::string PlacementStage(const std::string& placement) {
  const bool consolidated = placement.starts_with("consolidated");
  return consolidated ? "consolidated/victims=true" : "first-fit/victims=true";
}

constexpr std::string_view kAdmit = "admit-";

std::string AdmissionStage(const BloxRun& run) {
  if (run.admission == "accept-all") return "accept-all";
  if (run.admission.starts_with(kAdmit) &&
      ParseNumber(run.admission.substr(kAdmit.size())).value_or(0) > 0) {
    return "load/factor=" + run.admission.substr(kAdmit.size());
  }
  throw DataError(
      "{}: the admission must be accept-all or admit-FACTOR with a factor > 0, got '{}'", run.name,
      run.admission);
}

// Its Optimus lets every job progress faster than its rate at low load; by the text of the
// workload's jobs per hour. For SimOptions::speedup.
double OptimusSpeedup(std::string_view load) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kSpeedups = {
      {{"1.0", 5}, {"2.0", 3}, {"3.0", 1.4}, {"4.0", 1.2}, {"5.0", 1.1}}};
  for (const auto& [text, speedup] : kSpeedups) {
    if (text == load) return speedup;
  }
  return 1;
}

struct BloxWorld {
  Scenario scenario;
  std::string policy;  // lower case
};

BloxWorld WorldOf(const BloxRun& run, const BloxJobs& jobs, const ProfileInfo& profile) {
  SimOptions options;
  profile.apply(&options);
  options.interval = run.round;
  const std::string policy = ToLower(run.policy);
  if (policy == "optimus") {
    options.speedup = OptimusSpeedup(run.load);
  }
  ClusterSpec cluster;
  cluster.AddNodes(run.nodes, {run.gpus_per_node, 0}, "gpu");
  return {Scenario(jobs.workload, cluster, options), policy};
}

double BloxRepairedAverageJct(const BloxRun& run, const BloxJobs& jobs) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "blox");
  const BloxWorld world = WorldOf(run, jobs, profile);
  const auto policy = MakePolicy(PolicySpecUnder(
      profile, fmt::format("{}-repaired:admission={}", world.policy, AdmissionStage(run))));
  return AverageJct(RunPolicy(world.scenario, *policy).records);
}

FidelityResult RunBlox(const BloxRun& run, const BloxJobs& jobs) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "blox");
  const BloxWorld world = WorldOf(run, jobs, profile);
  const Scenario& scenario = world.scenario;
  const Seconds interval = scenario.options().interval;
  const auto object = MakePolicy(
      PolicySpecUnder(profile, fmt::format("{}:placement={},admission={}", world.policy,
                                           PlacementStage(run.placement), AdmissionStage(run))));
  const RunOutcome outcome = RunPolicy(scenario, *object);

  const std::string path = (run.folder / "results" / (run.name + ".jobs.csv")).string();
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path,
                {"job_id", "submit_s", "first_start_s", "finish_s", "jct_s", "responsiveness_s",
                 "launches", "preemptions", "moves"});
  RollCall roll(scenario.workload(), run.name, path);
  JobComparison comparison(0.5);
  while (csv.Next()) {
    csv.CheckRow();
    const JobRecord& ours = outcome.records[roll.Take(csv)];
    comparison.Job(csv.Text("job_id"), csv.Number("jct_s"), ours.finish - ours.submit,
                   csv.Number("finish_s"));
    comparison.Compare("first start", csv.Number("first_start_s"), ours.first_start);
    comparison.Compare("finish", csv.Number("finish_s"), ours.finish);
    // Blox counts a launch as seen one round later.
    comparison.Compare("responsiveness", csv.Number("responsiveness_s"),
                       ours.first_start + interval - ours.submit);
    comparison.Compare("launches", csv.Number("launches"), ours.launches());
    comparison.Compare("preemptions", csv.Number("preemptions"), ours.preemptions);
    comparison.Compare("moves", csv.Number("moves"), ours.moves);
    // Follow from the others, unless the row is of another workload or contradicts itself.
    comparison.Compare("submission", csv.Number("submit_s"), ours.submit);
    comparison.Compare("JCT", csv.Number("jct_s"), ours.finish - ours.submit);
  }
  roll.Finish();
  FidelityResult result;
  result.name = run.name;
  comparison.Finish(&result);
  result.our_cpu_s = outcome.cpu_s;
  if (run.placement == "scattered" && !jobs.one_gpu) {
    result.verdict = FidelityResult::Verdict::kNotRebuilt;
    result.note = "shipped search overshoots for jobs of several GPUs";
  }
  return result;
}

// The runs that results.csv names, where the folder has one, with their CPU time as far as it says.
std::map<std::string, double> CpuSeconds(const fs::path& folder) {
  std::map<std::string, double> seconds;
  const std::string path = (folder / "results.csv").string();
  if (!fs::exists(path)) return seconds;
  const auto lines = ReadTextFile(path);
  std::vector<std::string_view> header;
  for (const std::string_view line : Split(lines, '\n')) {
    const auto fields = Split(Trim(line), ',');
    if (header.empty()) {
      header.assign(fields.begin(), fields.end());
      continue;
    }
    if (fields[0].empty()) continue;
    double& cpu = seconds.emplace(fields[0], kUnknown).first->second;
    const auto at = std::find(header.begin(), header.end(), "cpu_s") - header.begin();
    if (static_cast<std::size_t>(at) >= fields.size()) continue;
    cpu = ParseNumber(fields[static_cast<std::size_t>(at)]).value_or(kUnknown);
  }
  return seconds;
}

void CheckIsOneOf(const BloxRun& run, std::string_view what, const std::string& value,
                  const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) return;
  throw DataError("{}: the {} of a run is one of {}, got '{}' in '{}'", run.folder.string(), what,
                  Join(known, ", "), value, run.name);
}

// "w2.Fifo.scattered.admit-1.2": the last part may hold a point.
BloxRun NamedRun(const std::string& folder, const std::string& name) {
  const auto parts = Split(name, '.');
  if (parts.size() < 4) {
    throw DataError("{}: a run is named WORKLOAD.POLICY.PLACEMENT.ADMISSION, got '{}'", folder,
                    name);
  }
  BloxRun run;
  run.folder = folder;
  run.name = name;
  run.workload = parts[0];
  run.policy = parts[1];
  run.placement = parts[2];
  run.admission = name.substr(parts[0].size() + parts[1].size() + parts[2].size() + 3);
  CheckIsOneOf(run, "policy", run.policy, {"Fifo", "Las", "Optimus", "Srtf", "Tiresias"});
  CheckIsOneOf(run, "placement", run.placement,
               {"consolidated", "consolidated-repaired", "scattered", "scattered-repaired"});
  AdmissionStage(run);
  return run;
}

// Runs are closed: exactly the jobs of the workload arrive, and a complete run reports all of them.
void ReadSummary(const BloxJobs& jobs, BloxRun* run) {
  const ReferenceFacts facts((run->folder / "results" / (run->name + ".summary.json")).string());
  facts.Expect("policy", run->policy, "the file's name");
  facts.Expect("placement", run->placement, "the file's name");
  // "admit-1.2" is "1.2" there.
  const bool factor = run->admission.starts_with(kAdmit);
  facts.Expect("admission", factor ? run->admission.substr(kAdmit.size()) : run->admission,
               "the file's name");
  facts.Expect("complete", true, "every job is reported");
  const auto count = static_cast<std::int64_t>(jobs.workload.jobs.size());
  const std::string why = "the jobs of " + jobs.workload.name;
  facts.Expect("tracked", count, why);
  facts.Expect("finished", count, why);
  run->round = facts.Number("round_s", 1, kLongestRound);
  run->load = facts.Text("load");
  run->nodes = static_cast<std::int32_t>(facts.Integer("nodes", 1, kMostReferenceNodes));
  run->gpus_per_node = static_cast<GpuCount>(facts.Integer("gpus_per_node", 1, kMaxGpusPerNode));
}

// Both files of a run, and of every run that results.csv names, must be there.
std::set<std::string> RunNames(const fs::path& folder, const std::map<std::string, double>& cpu) {
  std::set<std::string> names;
  const auto add = [&](const std::string& file, std::string_view suffix) {
    if (file.ends_with(suffix)) names.insert(file.substr(0, file.size() - suffix.size()));
  };
  for (const auto& entry : fs::directory_iterator(folder / "results")) {
    const std::string file = entry.path().filename().string();
    add(file, ".summary.json");
    add(file, ".jobs.csv");
  }
  for (const auto& [name, seconds] : cpu) names.insert(name);
  for (const std::string& name : names) {
    for (const char* suffix : {".summary.json", ".jobs.csv"}) {
      const fs::path file = folder / "results" / (name + suffix);
      if (!fs::exists(file)) {
        throw DataError("{}: run '{}' needs the file {}, there is none", folder.string(), name,
                        file.string());
      }
    }
  }
  return names;
}

std::vector<FidelityCase> BloxCases(const std::string& folder) {
  const fs::path results = fs::path(folder) / "results";
  if (!fs::is_directory(results)) {
    throw DataError("a Blox reference folder holds workloads and a folder 'results', '{}' has none",
                    folder);
  }
  // Workloads by the short name that runs use: "w1" for w1-small-30x16.csv.
  std::map<std::string, std::shared_ptr<const BloxJobs>> workloads;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".csv" || stem == "results") continue;
    std::string name = stem.substr(0, stem.find('-'));
    auto jobs = std::make_shared<const BloxJobs>(ReadBloxWorkload(entry.path().string()));
    if (const auto [other, added] = workloads.emplace(name, jobs); !added) {
      throw DataError("{}: runs must name one workload, '{}' is short for {} and {}", folder, name,
                      other->second->workload.name, jobs->workload.name);
    }
  }
  const std::map<std::string, double> cpu = CpuSeconds(folder);
  std::vector<FidelityCase> cases;
  for (const std::string& name : RunNames(folder, cpu)) {
    BloxRun run = NamedRun(folder, name);
    const auto jobs = workloads.find(run.workload);
    if (jobs == workloads.end()) {
      throw DataError("{}: run '{}' needs a workload file {}-*.csv", folder, run.name,
                      run.workload);
    }
    ReadSummary(*jobs->second, &run);
    const auto seconds = cpu.find(run.name);
    const double peer_cpu = seconds == cpu.end() ? kUnknown : seconds->second;
    const std::shared_ptr<const BloxJobs> workload = jobs->second;
    FidelityCase c;
    c.name = run.name;
    c.run = [run, workload, peer_cpu] {
      FidelityResult result = RunBlox(run, *workload);
      result.peer_cpu_s = peer_cpu;
      return result;
    };
    c.repaired_avg_jct_s = [run, workload] { return BloxRepairedAverageJct(run, *workload); };
    cases.push_back(std::move(c));
  }
  if (cases.empty()) throw DataError("{}: a reference folder holds runs, got none", folder);
  return cases;
}

std::vector<PeerDefect> BloxDefects() {
  return {
      {"'scattered' search: a job of several GPUs is offered min(free, need) GPUs of every node "
       "and starts only if the sum is exactly its need",
       "not rebuilt: first-fit takes what is still needed; runs marked so",
       "jobs wait while GPUs are free, some for ever (need 6 on nodes of 4)"},
      {"'consolidated' search as shipped takes exact fits only: one GPU on an empty node of 4 "
       "never starts",
       "not rebuilt: placement 'consolidated' falls back to the tightest larger node",
       "no run ends as shipped, so the reference has none"},
      {"progress is charged in whole rounds and no change of allocation costs anything",
       "options charge_whole_intervals and restart_cost of the profile",
       "half a round on average at each end of a job"},
      {"service is counted in seconds, whatever the number of GPUs", "option las:service=seconds",
       "jobs of many GPUs are favoured"},
      {"Tiresias is the same policy as Las", "rebuilt; allot's own tiresias has queues",
       "equal results"},
      {"Optimus is Srtf, with every job sped up 5 to 1.1 times at loads 1 to 5",
       "option speedup (OptimusSpeedup in src/fidelity/blox_peer.cc); for no other policy",
       "below load 6 it wins by that factor"},
      {"the first waiting job blocks all others under every policy; a job that was stopped for it "
       "stays stopped even if that did not help",
       "option victims=true of the placements", "column 'repaired' is without it"},
      {"after 1000 hours of waiting a job goes before all others", "option max-wait",
       "determines overloaded runs with open arrivals"},
  };
}

ALLOT_REGISTER(
    PeerInfo,
    (PeerInfo{
        "blox", "Blox (EuroSys'24), simulator of its repository",
        "submission, start, finish, JCT, responsiveness, launches, preemptions and moves of every "
        "job equal to the second",
        BloxDefects(), BloxCases}));

}  // namespace
}  // namespace allot
