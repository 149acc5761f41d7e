// Gavel (Narayanan et al., OSDI'20): its rounds with the answers of its policies as they were
// recorded, and whole runs of those policies whose answers are unique, both compared bit for bit;
// and single decisions (fidelity/gavel_snapshots.h).

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "fidelity/compare.h"
#include "fidelity/gavel_reference.h"
#include "fidelity/gavel_replay.h"
#include "fidelity/gavel_snapshots.h"
#include "fidelity/peer.h"
#include "fidelity/reference.h"
#include "sched/driver.h"
#include "sim/gavel_policies.h"
#include "sim/profile.h"
#include "sim/run.h"
#include "stages/rounds/shared_policy.h"
#include "table/csv.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

// A run with everything that it is made of.
struct GavelWorld {
  GavelRun run;
  std::shared_ptr<const Workload> workload;
  std::shared_ptr<const Catalogue> tables;
  fs::path folder;
};

Scenario ScenarioOf(const GavelWorld& world) {
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "gavel").apply(&options);
  options.interval = world.run.round;
  options.seed = world.run.seed;
  return Scenario(*world.workload, GavelCluster(world.run.cluster, world.run.gpus_per_server),
                  options, *world.tables);
}

std::string TextOf(const GavelPlacement& row) {
  std::string workers;
  for (const std::int32_t worker : row.workers) workers += fmt::format(" {}", worker);
  const std::string pair = row.key.second < 0 ? "" : fmt::format(" beside {}", row.key.second);
  return fmt::format("round {} at {} s: job {}{} on {}{}", row.round, row.start, row.key.first,
                     pair, row.gpu_type, workers);
}

// The first row that differs; "" where none does.
std::string DifferentRow(const std::vector<GavelPlacement>& theirs,
                         const std::vector<GavelPlacement>& ours) {
  const std::size_t most = std::max(theirs.size(), ours.size());
  for (std::size_t i = 0; i < most; ++i) {
    if (i < theirs.size() && i < ours.size() && theirs[i] == ours[i]) continue;
    const auto text = [i](const auto& rows) {
      return i < rows.size() ? TextOf(rows[i]) : std::string("no row");
    };
    return fmt::format("row {}: {} at the peer, {} here", i, text(theirs), text(ours));
  }
  return "";
}

// In the order of NumPy's sum: eight at a time, in halves where there are more than 128.
double PairwiseSum(std::span<const double> values) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 128;
  const std::size_t n = values.size();
  if (n > kBlock) {
    const std::size_t half = n / 2 - n / 2 % kLanes;
    return PairwiseSum(values.first(half)) + PairwiseSum(values.subspan(half));
  }
  std::size_t i = 0;
  double sum = 0;
  if (n >= kLanes) {
    double lanes[kLanes];
    std::copy_n(values.begin(), kLanes, lanes);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
    }
    sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
          ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  }
  for (; i < n; ++i) sum += values[i];
  return sum;
}

// Figures of the whole run; "" where all are equal.
std::string DifferentFigure(const GavelWorld& world, const SimulatedCluster& cluster,
                            const RoundLog& log, double average) {
  const auto& theirs = world.run.figures;
  const Seconds end = cluster.Observe().now;
  std::vector<double> parts;
  parts.reserve(cluster.busy_seconds().size());
  for (const Seconds seconds : cluster.busy_seconds()) parts.push_back(seconds / end);
  const double busy = PairwiseSum(parts) / static_cast<double>(parts.size());
  const auto completed = std::count_if(cluster.records().begin(), cluster.records().end(),
                                       [](const JobRecord& r) { return r.finish != kNever; });
  const auto jobs = static_cast<double>(cluster.records().size());
  const std::pair<const char*, double> ours[] = {
      {"jobs", jobs},
      {"completed", static_cast<double>(completed)},
      {"dropped", jobs - static_cast<double>(completed)},
      {"makespan_s", end},
      {"utilization", busy},
      // The peer counts the round after the last job, too.
      {"rounds", static_cast<double>(log.rounds() + 1)},
      {"lease_ext", static_cast<double>(log.extended())},
      {"lease_ext_opportunities", static_cast<double>(log.chances())},
      {"avg_jct_s", average},
  };
  for (const auto& [figure, value] : ours) {
    const double wanted = theirs.at(figure);
    // Means depend on the order of the sum.
    const double slack = std::string_view(figure) == "avg_jct_s" ? 1e-12 * wanted : 0;
    if (std::abs(wanted - value) <= slack) continue;
    return fmt::format("{}: {} at the peer, {} here", figure, wanted, value);
  }
  return "";
}

FidelityResult Compare(const GavelWorld& world, const SimulatedCluster& cluster,
                       const RoundLog& log, const std::string& name) {
  const std::string path =
      (world.folder / "results" / (world.run.workload + "__" + world.run.policy + ".jct.csv"))
          .string();
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"job_id", "jct_s"}, {"arrival_time_s"});
  RollCall roll(*world.workload, name, path);
  JobComparison comparison(0);
  double sum = 0;
  std::int64_t completed = 0;
  while (csv.Next()) {
    csv.CheckRow();
    const JobRecord& ours = cluster.records()[roll.Take(csv)];
    const bool dropped = !csv.Has("jct_s");
    const bool we_drop = ours.finish == kNever;
    const double jct = we_drop ? 0 : ours.finish - ours.submit;
    const double peer_jct = dropped ? 0 : csv.Number("jct_s");
    comparison.Job(csv.Text("job_id"), peer_jct, jct, dropped ? 0 : ours.submit + peer_jct);
    comparison.Compare("dropped", dropped ? 1 : 0, we_drop ? 1 : 0);
    comparison.Compare("JCT", peer_jct, jct);
    if (csv.Has("arrival_time_s")) {
      comparison.Compare("arrival", csv.Number("arrival_time_s"), ours.submit);
    }
    if (we_drop) continue;
    sum += jct;
    ++completed;
  }
  roll.Finish();
  FidelityResult result;
  result.name = name;
  comparison.Finish(&result);
  const double average = sum / static_cast<double>(std::max<std::int64_t>(completed, 1));
  result.peer_avg_jct_s = world.run.figures.at("avg_jct_s");
  result.our_avg_jct_s = average;
  if (result.first_difference.empty()) {
    result.first_difference = DifferentFigure(world, cluster, log, average);
  }
  const std::string rounds = FindGavelFile(
      world.folder / "replay", world.run.workload + "__" + world.run.policy + ".rounds.csv");
  if (result.first_difference.empty() && !rounds.empty()) {
    result.first_difference = DifferentRow(ReadGavelRounds(rounds, *world.workload), log.rows());
  }
  if (!result.first_difference.empty()) result.verdict = FidelityResult::Verdict::kDifferent;
  const auto cpu = world.run.figures.find("cpu_s");
  if (cpu != world.run.figures.end()) result.peer_cpu_s = cpu->second;
  return result;
}

struct Played {
  std::unique_ptr<SimulatedCluster> cluster;
  std::unique_ptr<RoundLog> log;
  double cpu_s = 0;
};

Played Play(const Scenario& scenario, Policy& policy) {
  Played played;
  const double begin = ThreadCpuSeconds();
  played.cluster = std::make_unique<SimulatedCluster>(scenario);
  played.cluster->LeaveOutSums();
  Drive(*played.cluster, policy, ContextOf(scenario), {}, {.time_decisions = false});
  played.cpu_s = ThreadCpuSeconds() - begin;
  // Again, with somebody who takes notes.
  played.cluster = std::make_unique<SimulatedCluster>(scenario);
  played.cluster->LeaveOutSums();
  played.log = std::make_unique<RoundLog>(scenario.cluster());
  DecisionListener* const listeners[] = {played.log.get()};
  Drive(*played.cluster, policy, ContextOf(scenario), listeners, {.time_decisions = false});
  return played;
}

FidelityResult RunRecorded(const GavelWorld& world, const GavelPolicy& kind) {
  const std::string file = FindGavelFile(
      world.folder / "replay", world.run.workload + "__" + world.run.policy + ".alloc.csv");
  const std::vector<GavelCall> calls = ReadGavelCalls(file, *world.workload);
  const PolicyInfo& info = Registry<PolicyInfo>::Global().Get("policy", "shared");
  auto sharing = std::make_unique<RecordedSharing>(calls);
  const RecordedSharing& recorded = *sharing;
  const Params params("policy 'shared'", info.params,
                      ParseNamedParams("shared:" + GavelRounds(kind)).given);
  const auto policy = MakeSharedPolicy(info, params, std::move(sharing));
  const Scenario scenario = ScenarioOf(world);
  const Played played = Play(scenario, *policy);
  FidelityResult result =
      Compare(world, *played.cluster, *played.log, world.run.name() + ".recorded");
  result.our_cpu_s = played.cpu_s;
  result.peer_cpu_s = kUnknown;  // it solves as well
  if (result.first_difference.empty() && !recorded.late().empty()) {
    result.first_difference = recorded.late();
    result.verdict = FidelityResult::Verdict::kDifferent;
  }
  return result;
}

FidelityResult RunNative(const GavelWorld& world) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "gavel");
  const auto policy = MakePolicy(PolicySpecUnder(profile, world.run.policy));
  const Scenario scenario = ScenarioOf(world);
  const Played played = Play(scenario, *policy);
  FidelityResult result = Compare(world, *played.cluster, *played.log, world.run.name());
  result.our_cpu_s = played.cpu_s;
  return result;
}

double RepairedAverageJct(const GavelWorld& world) {
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", "gavel");
  const std::string name = world.run.policy + "-repaired";
  if (!profile.policies.contains(name)) return kUnknown;
  const auto policy = MakePolicy(PolicySpecUnder(profile, name));
  return AverageJct(RunPolicy(ScenarioOf(world), *policy).records);
}

std::vector<FidelityCase> GavelCases(const std::string& folder) {
  const fs::path root(folder);
  for (const char* part : {"workloads", "results"}) {
    if (fs::is_directory(root / part)) continue;
    throw DataError(
        "a Gavel reference folder holds its tables and folders 'workloads' and 'results', '{}' has "
        "no '{}'",
        folder, part);
  }
  const auto tables = std::make_shared<const Catalogue>(ReadGavelTables(root));
  std::map<std::string, std::shared_ptr<const Workload>> workloads;
  std::vector<FidelityCase> cases;
  std::set<std::string> named;
  for (GavelRun& run : ReadGavelRuns(root)) {
    named.insert(run.workload + "__" + run.policy);
    const GavelPolicy* const kind = FindGavelPolicy(run.policy);
    if (kind == nullptr) {
      std::vector<std::string> known;
      for (const GavelPolicy& each : GavelPolicies()) known.emplace_back(each.name);
      throw DataError("{}: 'policy' must be one of Gavel's, got '{}'{}",
                      (root / "results" / "summary.csv").string(), run.policy,
                      DidYouMean(run.policy, known));
    }
    auto& workload = workloads[run.workload];
    if (workload == nullptr) {
      workload = ReadGavelWorkload(root / "workloads" / (run.workload + ".csv"));
    }
    const std::string name = run.name();
    const GavelWorld world{std::move(run), workload, tables, root};
    const auto repaired = [world] { return RepairedAverageJct(world); };
    const std::string calls =
        FindGavelFile(root / "replay", world.run.workload + "__" + world.run.policy + ".alloc.csv");
    if (!calls.empty()) {
      cases.push_back(
          {name + ".recorded", [world, kind] { return RunRecorded(world, *kind); }, repaired});
    }
    if (kind->determined && !kind->sharing.empty()) {
      cases.push_back({name, [world] { return RunNative(world); }, repaired});
    }
  }
  // A recording without a row of its own must not be passed over.
  if (fs::is_directory(root / "replay")) {
    for (const auto& entry : fs::directory_iterator(root / "replay")) {
      const std::string file = entry.path().filename().string();
      const std::size_t end = std::min(file.find(".alloc.csv"), file.find(".rounds.csv"));
      if (end == std::string::npos || named.contains(file.substr(0, end))) continue;
      throw DataError("{}: a recording is of a run in results/summary.csv, '{}' is of none",
                      entry.path().string(), file.substr(0, end));
    }
  }
  for (FidelityCase& each : GavelSnapshotCases(folder)) cases.push_back(std::move(each));
  if (cases.empty()) throw DataError("{}: a reference folder holds runs, got none", folder);
  std::sort(cases.begin(), cases.end(),
            [](const FidelityCase& a, const FidelityCase& b) { return a.name < b.name; });
  return cases;
}

std::vector<PeerDefect> GavelDefects() {
  return {
      {"what is left of a share after an interior-point solve (1e-11) counts as one, and v100 is "
       "filled first: jobs run where they are slow",
       "options residues and leftovers=in-turn of `shared`", "7 % of the mean JCT at low load"},
      {"an arrival waits up to 1920 s for new shares, also on an idle cluster; where nothing runs, "
       "until the next arrival",
       "option reset", "500 s before the first round on average, hours in workload quirk_gap"},
      {"jobs that came since the last shares take GPUs in their turn and leave them idle",
       "option hold", "part of both columns"},
      {"the first round after nothing ran counts from the end of the round before: busy time and "
       "priorities are wrong",
       "options busy_gaps and by-work", "utilisation 0.97 of a nearly idle cluster"},
      {"jobs on the same GPUs both end when the later one does", "part of whole_rounds",
       "up to a round"},
      {"a job of several GPUs with fewer steps left than GPUs fails, and is dropped after 5 rounds "
       "without a JCT",
       "option most_failures", "it is missing in the peer's averages"},
      {"changes of allocation are free, and GPUs on several servers as fast as on one",
       "option restart_cost; tables with consolidated=0 rows", "with 30 s up to 5 %"},
      {"policy fifo takes one GPU type only, by its seed", "recorded answers only",
       "use fifo_perf"},
      {"packed policies crash on jobs of different sizes, --ideal and the SLO policies always",
       "not rebuilt", "-"}};
}

ALLOT_REGISTER(PeerInfo,
               (PeerInfo{"gavel", "Gavel (OSDI'20): mixed GPU types, time shares in rounds",
                         "every JCT, the rounds, the makespan, the utilisation, the leases and, "
                         "where recorded, every placement, bit for bit; of single decisions the "
                         "objective to 1e-8, relative",
                         GavelDefects(), GavelCases}));

}  // namespace
}  // namespace allot
