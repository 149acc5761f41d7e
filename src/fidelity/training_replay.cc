#include "fidelity/training_replay.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/strings.h"
#include "fidelity/compare.h"
#include "perf/application_files.h"
#include "perf/pollux_applications.h"
#include "sim/profile.h"
#include "sim/training_run.h"
#include "table/csv.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReplay = ".replay.csv";
constexpr Seconds kLongest = 1e8;     // of a run
constexpr double kHalfASecond = 0.5;  // times are whole seconds

}  // namespace

RecordedChanges ReadRecordedChanges(const std::string& path) {
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path,
                {"time", "job", "epoch", "gpu_type", "placement", "atomic_bsz", "accum_steps",
                 "restart_delay_left"});
  RecordedChanges changes;
  while (csv.Next()) {
    csv.CheckRow();
    RecordedChange change{csv.Number("time"), std::string(csv.Text("gpu_type")), {}, {}, 0};
    if (csv.Has("placement")) {
      for (const std::string_view part : Split(csv.Text("placement"), ' ')) {
        const auto gpus = ParseInteger(part);
        if (!gpus || *gpus < 0 || *gpus > kMaxGpusPerJob) {
          throw DataError("{}: 'placement' is the GPUs of each node, got '{}'", csv.place(),
                          csv.Text("placement"));
        }
        change.nodes.emplace_back(static_cast<int>(*gpus));
      }
      change.batch.local_batch = csv.Integer("atomic_bsz", 1, 1'000'000'000);
      change.batch.accumulation = static_cast<int>(csv.Integer("accum_steps", 0, 1'000'000));
      change.restart = csv.Number("restart_delay_left");
    }
    auto& of_job = changes[std::string(csv.Text("job"))];
    if (!of_job.empty() && change.time < of_job.back().time) {
      throw DataError("{}: times of a job must not fall, got {} after {}", csv.place(), change.time,
                      of_job.back().time);
    }
    of_job.push_back(std::move(change));
  }
  return changes;
}

Seconds PlayRecorded(const TrainingWorld& world, const ApplicationModel& model,
                     const std::vector<RecordedChange>& changes,
                     const std::function<void(Seconds)>& decide,
                     const TrainingRun::Meter& measure) {
  TrainingRun run(model, world.rules);
  std::size_t next = 0;
  const RecordedChange* current = nullptr;
  Seconds clock = 0;  // of the job
  Seconds ready = 0;
  // Another batch where it runs, chosen by now.
  const auto batch = [&](const RunShape&, std::int32_t) {
    while (next < changes.size() && changes[next].time <= clock + kHalfASecond &&
           changes[next].restart <= 0 && changes[next].gpu_type == current->gpu_type &&
           changes[next].nodes == current->nodes) {
      current = &changes[next++];
    }
    return current->batch;
  };
  const auto pass = [&](const TrainingMeasurement& measured) {
    clock += measured.seconds;
    if (measure) measure(measured);
  };
  Seconds begin = std::floor(changes.front().time / world.interval) * world.interval;
  for (; begin < kLongest; begin += world.interval) {
    clock = begin;
    if (decide) decide(begin);
    while (next < changes.size() && changes[next].time <= begin) {
      current = &changes[next++];
      if (current->nodes.empty()) {
        run.Stop();
        continue;
      }
      if (current->restart > 0) ready = begin + current->restart;
      run.Place(current->gpu_type, current->nodes, batch);
    }
    const Seconds end = begin + world.interval;
    clock = std::max(begin, ready);
    if (!run.placed()) {
      if (next == changes.size()) return kNever;
      continue;
    }
    if (clock >= end) continue;
    const Seconds from = clock;
    const Seconds took = run.Advance(end - from, 1, batch, pass);
    if (run.finished()) return from + took;
  }
  return kNever;
}

namespace {

// What a run is named after: of its policy, workload and seed, or as 'run' says.
std::string NameOf(const CsvReader& row) {
  if (row.Has("run")) return std::string(row.Text("run"));
  std::string name = std::string(row.Text("policy")) + "-" +
                     fs::path(std::string(row.Text("workload"))).stem().string();
  if (row.Has("seed")) name += "-seed" + std::string(row.Text("seed"));
  return name;
}

// Of the run, where the summary of all says it.
Seconds IntervalOf(const TrainingWorld& world, const std::string& name) {
  const std::string path = (world.folder / "results" / "run_summary.csv").string();
  if (!fs::exists(path)) return world.interval;
  const std::string text = ReadTextFile(path);
  const std::string_view header = std::string_view(text).substr(0, text.find('\n'));
  std::vector<std::string> others;
  for (const std::string_view column : Split(Trim(header), ',')) {
    others.emplace_back(column);
  }
  for (const char* needed : {"policy", "workload", "interval"}) std::erase(others, needed);
  CsvReader csv(text, path, {"policy", "workload", "interval"}, others);
  while (csv.Next()) {
    csv.CheckRow();
    if (NameOf(csv) != name) continue;
    const Seconds interval = csv.Number("interval");
    if (!(interval > 0))
      throw DataError("{}: 'interval' must be > 0, got {}", csv.place(), interval);
    return interval;
  }
  return world.interval;
}

FidelityResult Replay(TrainingWorld world, const std::string& name) {
  const fs::path results = world.folder / "results";
  world.interval = IntervalOf(world, name);
  const std::string recorded = (results / (name + std::string(kReplay))).string();
  const std::string path = (results / (name + ".jobs.csv")).string();
  const RecordedChanges changes = ReadRecordedChanges(recorded);
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"name", "application", "submission_time", "completion_time"},
                {"first_start", "jct", "num_restarts", "gpu_seconds", "avg_gpus", "avg_throughput",
                 "avg_goodput", "avg_efficiency", "final_epoch", "n_profiled", "avg_contention",
                 "gpu_seconds_by_type"});
  const double begin = ThreadCpuSeconds();
  JobComparison comparison(kHalfASecond);
  std::size_t jobs = 0;
  while (csv.Next()) {
    csv.CheckRow();
    const auto of_job = changes.find(csv.Text("name"));
    if (of_job == changes.end()) {
      throw DataError("{}: job '{}' must have a row in {}, it has none", csv.place(),
                      csv.Text("name"), recorded);
    }
    ++jobs;
    const auto& model = *AsApplication(*world.applications->Get(csv.Text("application")));
    const Seconds submit = csv.Number("submission_time");
    const Seconds theirs = csv.Number("completion_time");
    const Seconds ours = PlayRecorded(world, model, of_job->second);
    comparison.Job(csv.Text("name"), theirs - submit, ours - submit, theirs);
    comparison.Compare("completion", theirs, ours);
  }
  if (jobs != changes.size()) {
    throw DataError("{}: each job of {} has a row, got {} for {} jobs", path, recorded, jobs,
                    changes.size());
  }
  FidelityResult result;
  result.name = name + ".recorded";
  comparison.Finish(&result);
  result.our_cpu_s = ThreadCpuSeconds() - begin;
  return result;
}

}  // namespace

TrainingWorld ReadTrainingWorld(const std::string& folder, const std::string& profile,
                                const Catalogue* shipped) {
  const fs::path root(folder);
  const bool own = shipped == nullptr || fs::is_directory(root / "applications");
  for (const std::string part : {"applications", "workloads", "results"}) {
    if (fs::is_directory(root / part) || (part == "applications" && !own)) continue;
    throw DataError(
        "a reference folder of '{}' holds folders 'applications', 'workloads' and 'results', '{}' "
        "has no '{}'",
        profile, folder, part);
  }
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", profile).apply(&options);
  TrainingWorld world;
  world.folder = root;
  if (own) {
    const std::string applications = (root / "applications").string();
    world.applications = std::make_shared<const Catalogue>(
        Catalogue::FromCsv(PackApplications(applications) + kPolluxFixedBatches, applications));
  } else {
    world.applications = std::make_shared<const Catalogue>(*shipped);
  }
  world.rules = options.training;
  world.interval = options.interval;
  return world;
}

std::vector<FidelityCase> TrainingReplays(const TrainingWorld& world) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(world.folder / "results")) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(kReplay)) names.push_back(file.substr(0, file.size() - kReplay.size()));
  }
  std::sort(names.begin(), names.end());
  std::vector<FidelityCase> cases;
  cases.reserve(names.size());
  for (const std::string& name : names) {
    cases.push_back({name + ".recorded", [world, name] { return Replay(world, name); },
                     [] { return kUnknown; }});
  }
  return cases;
}

}  // namespace allot
