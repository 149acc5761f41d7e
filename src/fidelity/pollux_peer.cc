// Pollux (Qiao et al., OSDI'21), the simulator of its artifact: recorded runs played again
// (fidelity/training_replay.h), and Tiresias and Optimus, which are deterministic, as policies of
// their own, compared with the results that were published: results/published_jct_per_job.csv.

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "fidelity/compare.h"
#include "fidelity/peer.h"
#include "fidelity/training_replay.h"
#include "perf/pollux_applications.h"
#include "sim/profile.h"
#include "sim/run.h"
#include "table/csv.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCluster = "16x4";
constexpr const char* kUsualInterval = "60";
constexpr double kEqualJct = 0.5;  // arrivals and ends are whole seconds

struct PublishedRun {
  std::string policy;
  std::string load;
  std::string workload;
  std::string interval;                            // seconds
  std::string interference;                        // share lost
  std::map<std::string, double, std::less<>> jct;  // by job

  std::string name() const {
    std::string name = "load" + load + "-workload-" + workload + "." + policy;
    if (interval != kUsualInterval) name += ".interval-" + interval;
    if (ParseNumber(interference).value_or(0) > 0) name += ".interference-" + interference;
    return name;
  }
};

// Of the policies that are deterministic.
std::vector<PublishedRun> ReadPublished(const std::string& path) {
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path,
                {"policy", "load", "workload", "interval_s", "interference", "job", "jct_s"},
                {"interference_avoidance"});
  std::map<std::array<std::string, 5>, PublishedRun> runs;
  while (csv.Next()) {
    csv.CheckRow();
    const std::string policy(csv.Text("policy"));
    if (policy != "tiresias" && policy != "optimus") continue;
    if (!(csv.Number("interval_s") > 0) || !(csv.Number("interference") >= 0)) {
      throw DataError("{}: 'interval_s' must be > 0 and 'interference' >= 0, got {} and {}",
                      csv.place(), csv.Number("interval_s"), csv.Number("interference"));
    }
    const std::string load(csv.Text("load"));
    const std::string workload(csv.Text("workload"));
    const std::string interval(csv.Text("interval_s"));
    const std::string interference(csv.Text("interference"));
    PublishedRun& run = runs[{policy, load, workload, interval, interference}];
    run.interval = interval;
    run.interference = interference;
    run.policy = policy;
    run.load = load;
    run.workload = workload;
    if (!run.jct.emplace(csv.Text("job"), csv.Number("jct_s")).second) {
      throw DataError("{}: a job has one row in a run, '{}' of {} has two", csv.place(),
                      csv.Text("job"), run.name());
    }
  }
  std::vector<PublishedRun> list;
  list.reserve(runs.size());
  for (auto& [key, run] : runs) list.push_back(std::move(run));
  return list;
}

FidelityResult RunPublished(const TrainingWorld& world, const PublishedRun& published,
                            const std::string& workload_path, const std::string& results) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "pollux");
  SimOptions options;
  profile.apply(&options);
  options.interval = *ParseNumber(published.interval);
  options.training.interference = *ParseNumber(published.interference);
  const Scenario scenario(ReadTrace(workload_path, "pollux-training"), ClusterSpec::Parse(kCluster),
                          options, *world.applications);
  const auto policy = MakePolicy(PolicySpecUnder(profile, published.policy));
  const RunOutcome outcome = RunPolicy(scenario, *policy, {}, {}, {.time_decisions = false});
  JobComparison comparison(kEqualJct);
  for (const JobRecord& record : outcome.records) {
    const std::string& id = scenario.workload().jobs[static_cast<std::size_t>(record.job)].id;
    const auto theirs = published.jct.find(id);
    if (theirs == published.jct.end()) {
      throw DataError("{}: job '{}' of {} must have a row in run {}, it has none", results, id,
                      workload_path, published.name());
    }
    const Seconds ours = record.finish - record.submit;
    comparison.Job(id, theirs->second, ours, record.submit + theirs->second);
    comparison.Compare("JCT", theirs->second, ours);
  }
  if (outcome.records.size() != published.jct.size()) {
    throw DataError("{}: run {} has rows of {} jobs, {} has {}", results, published.name(),
                    published.jct.size(), workload_path, outcome.records.size());
  }
  FidelityResult result;
  result.name = published.name();
  comparison.Finish(&result);
  result.our_cpu_s = outcome.cpu_s;
  return result;
}

std::vector<FidelityCase> PolluxCases(const std::string& folder) {
  const TrainingWorld world = ReadTrainingWorld(folder, "pollux", &PolluxCatalogue());
  std::vector<FidelityCase> cases = TrainingReplays(world);
  const std::string results = (world.folder / "results" / "published_jct_per_job.csv").string();
  for (PublishedRun& run : ReadPublished(results)) {
    const std::string path =
        (world.folder / "workloads" / ("load" + run.load + "-workload-" + run.workload + ".csv"))
            .string();
    if (!fs::exists(path)) continue;  // published results are of more workloads than these
    const std::string name = run.name();
    cases.push_back({name,
                     [world, run = std::move(run), path, results] {
                       return RunPublished(world, run, path, results);
                     },
                     [] { return kUnknown; }});
  }
  if (cases.empty()) throw DataError("{}: a reference folder holds runs, got none", folder);
  return cases;
}

std::vector<PeerDefect> PolluxDefects() {
  return {
      {"a finished job keeps its GPUs until the interval ends; an epoch takes whole seconds",
       "rules of the profile (TrainingRules)", "up to 60 s of GPUs a job"},
      {"Optimus counts a job's present epoch as done, and takes one iteration for the last",
       "rebuilt in optimus-oracle", "jobs in their last epoch have one GPU"},
      {"Optimus always counts two passes on one GPU, jobs take one where the batch is M0",
       "rebuilt in optimus-oracle", "one GPU looks slower than it is"},
      {"autoscaling calls its policy with an argument missing", "not rebuilt", "cannot be run"},
  };
}

ALLOT_REGISTER(PeerInfo,
               (PeerInfo{"pollux", "Pollux (OSDI'21), simulator of its artifact",
                         "completion of every job equal to the second: recorded configurations "
                         "played again, and Tiresias and Optimus against the published results",
                         PolluxDefects(), PolluxCases}));

}  // namespace
}  // namespace allot
