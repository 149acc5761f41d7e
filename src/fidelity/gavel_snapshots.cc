#include "fidelity/gavel_snapshots.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "perf/units.h"
#include "solve/packed_problem.h"
#include "solve/queue_plan.h"
#include "solve/share_problem.h"
#include "solve/water_filling.h"
#include "table/csv.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kClose = 1e-8;
constexpr double kCloseOfTwoFloors = 1e-6;
constexpr double kRounding = 1e-9;  // of GPUs and times

// Rates of pairs: (type, GPUs, job type, beside job type) -> steps per second.
using PairRates = std::map<std::tuple<std::string, long long, std::string, std::string>, double>;

struct Snapshot {
  std::string name;
  std::string path;
  std::string policy;
  json text;
  PackedProblem problem;  // pairs where the policy forms them
  std::vector<double> work;
  std::vector<double> elapsed;
  std::vector<double> alone;
  std::map<int, std::int32_t> job_of_id;
};

// What is compared: the largest relative error, and of what.
struct Outcome {
  double error = 0;
  std::string of = "objective";
  PackedShares shares;

  void Compare(const std::string& what, double ours, double peers, double size) {
    const double difference = std::abs(ours - peers) / size;
    if (difference <= error) return;
    error = difference;
    of = fmt::format("{}: {} and {}", what, ours, peers);
  }
};

PairRates ReadPairRates(const std::string& path) {
  const std::string text = ReadTextFile(path);
  CsvReader csv(
      text, path,
      {"gpu_type", "scale_factor", "job_type_a", "job_type_b", "steps_per_s_a", "steps_per_s_b"});
  PairRates rates;
  while (csv.Next()) {
    csv.CheckRow();
    const std::string type(csv.Text("gpu_type"));
    const long long gpus = csv.Integer("scale_factor", 1, kMaxGpusPerJob);
    const std::string a(csv.Text("job_type_a"));
    const std::string b(csv.Text("job_type_b"));
    for (const char* column : {"steps_per_s_a", "steps_per_s_b"}) {
      if (csv.Number(column) >= 0) continue;
      throw DataError("{}: '{}' must be >= 0, got {}", csv.place(), column, csv.Number(column));
    }
    rates[{type, gpus, a, b}] = csv.Number("steps_per_s_a");
    rates[{type, gpus, b, a}] = csv.Number("steps_per_s_b");
  }
  return rates;
}

// The peer's packed programs compute with single precision.
double Single(double rate) { return static_cast<double>(static_cast<float>(rate)); }

// Rates, but not what jobs are compared with: even divisions are of the rates as they are. Weights
// and isolated times are corrected for that.
void RoundToSingle(Snapshot* snapshot) {
  ShareProblem& problem = snapshot->problem.alone;
  const std::vector<double> even = EvenRates(problem);
  const std::vector<double> isolated = RatesOf(problem, EvenShares(problem).of);
  for (double& rate : problem.rate) rate = Single(rate);
  const std::vector<double> even_single = EvenRates(problem);
  const std::vector<double> isolated_single = RatesOf(problem, EvenShares(problem).of);
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    problem.weight[i] *= even[i] / even_single[i];
    snapshot->alone[i] += snapshot->work[i] / isolated[i] - snapshot->work[i] / isolated_single[i];
  }
}

// Kinds are (job type, GPUs); pairs of other sizes do not run together.
void AddPairs(const PairRates& rates, bool single, Snapshot* snapshot) {
  const json& jobs = snapshot->text.at("jobs");
  PackedProblem& problem = snapshot->problem;
  std::map<std::pair<std::string, int>, std::int32_t> kinds;
  for (const json& job : jobs) {
    const auto key =
        std::pair(job.at("job_type").get<std::string>(), job.at("scale_factor").get<int>());
    const auto kind = kinds.emplace(key, static_cast<std::int32_t>(kinds.size())).first->second;
    problem.kind.push_back(kind);
  }
  problem.kinds = kinds.size();
  const std::size_t types = problem.alone.types();
  problem.beside.assign(problem.kinds * problem.kinds * types, 0.0);
  for (const auto& [a, kind_a] : kinds) {
    for (const auto& [b, kind_b] : kinds) {
      if (a.second != b.second) continue;
      for (std::size_t g = 0; g < types; ++g) {
        const auto type = snapshot->text.at("gpu_types").at(g).get<std::string>();
        const auto rate = rates.find({type, a.second, a.first, b.first});
        if (rate == rates.end()) continue;
        problem.beside[(At(kind_a) * problem.kinds + At(kind_b)) * types + g] =
            single ? Single(rate->second) : rate->second;
      }
    }
  }
  if (single) RoundToSingle(snapshot);
}

Snapshot ReadSnapshot(const std::string& path, const PairRates& rates) {
  Snapshot snapshot;
  snapshot.path = path;
  snapshot.name = fs::path(path).stem().string();
  snapshot.text = json::parse(ReadTextFile(path));
  const json& text = snapshot.text;
  snapshot.policy = text.contains("entities") ? "hierarchical"
                                              : text.at("source").at("policy").get<std::string>();
  ShareProblem& problem = snapshot.problem.alone;
  problem.capacity = text.at("cluster").get<std::vector<double>>();
  for (const json& job : text.at("jobs")) {
    const auto row = job.at("throughput").get<std::vector<double>>();
    if (row.size() != problem.types()) {
      throw DataError("'throughput' must have {} values, got {} (job {})", problem.types(),
                      row.size(), problem.jobs());
    }
    snapshot.job_of_id[job.at("id").get<int>()] = static_cast<std::int32_t>(problem.jobs());
    problem.Add(job.at("scale_factor").get<double>(), job.at("priority_weight").get<double>(), row);
    snapshot.work.push_back(job.value("steps_remaining", 0.0));
    snapshot.elapsed.push_back(job.value("time_since_start_s", 0.0));
    snapshot.alone.push_back(job.value("cumulative_isolated_time_s", 0.0));
  }
  CheckShareProblem(problem);
  // Those that do not look at speeds.
  const std::string& policy = snapshot.policy;
  if (policy == "min_total_duration" || policy == "finish_time_fairness") {
    const auto& names = text.at("gpu_types").get<std::vector<std::string>>();
    const auto v100 =
        static_cast<std::size_t>(std::find(names.begin(), names.end(), "v100") - names.begin());
    if (v100 == names.size()) throw DataError("'gpu_types' must hold v100");
    for (std::size_t v = 0; v < problem.rate.size(); ++v) {
      problem.rate[v] = problem.rate[v / problem.types() * problem.types() + v100];
    }
  }
  if (policy == "max_min_fairness" || policy == "max_min_fairness_water_filling") {
    std::fill(problem.rate.begin(), problem.rate.end(), 1.0);
  }
  const bool procedure = policy == "fifo_packed" || policy == "gandiva";
  if (procedure || policy.ends_with("_packed")) AddPairs(rates, !procedure, &snapshot);
  return snapshot;
}

PackedShares Alone(Shares shares) {
  return {shares.feasible, std::move(shares.of), {}, shares.objective};
}

void CompareObjective(const Snapshot& s, Outcome* outcome) {
  const double optimum = s.text.at("objective").at("optimum").get<double>();
  outcome->Compare("objective", outcome->shares.objective, optimum, std::abs(optimum));
}

// The peer's own shares, pairs included.
PackedShares PeerShares(const Snapshot& s) {
  PackedShares shares;
  for (const json& row : s.text.at("allocation")) {
    for (const json& share : row) shares.of.push_back(share.get<double>());
  }
  if (!s.text.contains("pair_allocation_nonzero")) return shares;
  for (const json& pair : s.text.at("pair_allocation_nonzero")) {
    const auto [first, second] = std::minmax(s.job_of_id.at(pair.at("a").get<int>()),
                                             s.job_of_id.at(pair.at("b").get<int>()));
    for (std::size_t g = 0; g < s.problem.alone.types(); ++g) {
      const double share = pair.at("x").at(g).get<double>();
      if (share > 0) shares.pairs.push_back({first, second, g, share});
    }
  }
  return shares;
}

void CompareShares(const Snapshot& s, Outcome* outcome) {
  const PackedShares peers = PeerShares(s);
  using Key = std::tuple<std::int32_t, std::int32_t, std::size_t>;
  const auto all = [&](const PackedShares& shares) {
    std::map<Key, double> by_key;
    for (std::size_t v = 0; v < shares.of.size(); ++v) {
      by_key[{static_cast<std::int32_t>(v / s.problem.alone.types()), -1,
              v % s.problem.alone.types()}] = shares.of[v];
    }
    for (const PairShare& pair : shares.pairs) {
      by_key[{pair.first, pair.second, pair.type}] = pair.share;
    }
    return by_key;
  };
  const std::map<Key, double> ours = all(outcome->shares);
  const std::map<Key, double> theirs = all(peers);
  std::map<Key, double> either = ours;
  either.insert(theirs.begin(), theirs.end());
  for (const auto& entry : either) {
    const Key& key = entry.first;
    const auto value = [&](const std::map<Key, double>& shares) {
      const auto at = shares.find(key);
      return at == shares.end() ? 0.0 : at->second;
    };
    outcome->Compare(fmt::format("share of job {} (beside {}) of type {}", std::get<0>(key),
                                 std::get<1>(key), std::get<2>(key)),
                     value(ours), value(theirs), 1);
  }
}

Outcome SolveEntities(const Snapshot& s) {
  std::vector<ShareEntity> entities;
  std::vector<std::int32_t> entity_of(s.problem.alone.jobs(), 0);
  for (const json& entity : s.text.at("entities")) {
    for (const json& id : entity.at("jobs")) {
      entity_of[At(s.job_of_id.at(id.get<int>()))] = static_cast<std::int32_t>(entities.size());
    }
    entities.push_back({entity.at("weight").get<double>(),
                        entity.at("inner_policy").get<std::string>() == "fifo"});
  }
  Outcome outcome;
  outcome.shares = Alone(HierarchicalShares(s.problem.alone, entities, entity_of));
  const std::vector<double> theta = RatesOf(s.problem.alone, outcome.shares.of);
  const std::vector<double> even = EvenRates(s.problem.alone);
  const json& peers = s.text.at("peer_normalised_throughput");
  for (std::size_t i = 0; i < theta.size(); ++i) {
    outcome.Compare(fmt::format("level of job {}", i), theta[i] / even[i],
                    peers.at(i).get<double>(), 1);
  }
  return outcome;
}

Outcome SolveWaterFilling(const Snapshot& s) {
  Outcome outcome;
  outcome.shares = Alone(WaterFillingShares(s.problem.alone));
  const std::vector<double> theta = RatesOf(s.problem.alone, outcome.shares.of);
  const std::vector<double> even = EvenRates(s.problem.alone);
  const json& optimum = s.text.at("objective").at("optimum");
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const double level = s.problem.alone.gpus[i] * theta[i] / s.problem.alone.weight[i] / even[i];
    const double best = optimum.at(i).get<double>();
    outcome.Compare(fmt::format("level of job {}", i), level, best, best);
  }
  return outcome;
}

Outcome SolveMakespan(const Snapshot& s) {
  Outcome outcome;
  outcome.shares = Alone(MakespanShares(s.problem.alone, s.work));
  CompareObjective(s, &outcome);
  const double bisected = s.text.at("objective").at("bisection_T").get<double>();
  outcome.Compare("bisected time", BisectedMakespan(outcome.shares.objective), bisected, bisected);
  return outcome;
}

// The sum of the queues' finish times; which of equally good queues is open.
Outcome SolveAllox(const Snapshot& s) {
  const ShareProblem& problem = s.problem.alone;
  const auto types = s.text.at("gpu_types").get<std::vector<std::string>>();
  std::vector<std::int32_t> free(problem.capacity.begin(), problem.capacity.end());
  Outcome outcome;
  outcome.shares.of.assign(problem.rate.size(), 0.0);
  std::vector<double> seconds;
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < problem.jobs(); ++i) {
    const json& placed = s.text.at("jobs").at(i).at("already_placed_on");
    for (const json& type : placed) {
      const auto g = static_cast<std::size_t>(
          std::find(types.begin(), types.end(), type.get<std::string>()) - types.begin());
      free.at(g) -= 1;
      outcome.shares.of[i * types.size() + g] = 1;
    }
    if (!placed.empty()) continue;
    waiting.push_back(i);
    for (const double rate : problem.rates(i)) {
      seconds.push_back(s.work[i] / std::max(rate, 1e-10));
    }
  }
  if (!waiting.empty() && std::any_of(free.begin(), free.end(), [](auto n) { return n > 0; })) {
    const QueuePlan plan = PlanQueues(free, seconds);
    outcome.shares.objective = plan.cost;
    for (const std::int32_t job : plan.first) {
      outcome.shares.of[waiting[At(job)] * types.size() + At(plan.type[At(job)])] = 1;
    }
  }
  const double optimum = s.text.at("objective").at("optimum").get<double>();
  outcome.Compare("sum of finish times", outcome.shares.objective, optimum, std::max(1.0, optimum));
  return outcome;
}

// The pairs are drawn at random: those that the peer drew are taken.
Outcome SolveGandiva(const Snapshot& s) {
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const PairShare& pair : PeerShares(s).pairs) pairs.emplace(pair.first, pair.second);
  const std::vector<std::pair<std::int32_t, std::int32_t>> list(pairs.begin(), pairs.end());
  Outcome outcome;
  outcome.shares = EvenPacked(s.problem, list);
  CompareShares(s, &outcome);
  return outcome;
}

Outcome SolvePacked(const Snapshot& s) {
  Outcome outcome;
  if (s.policy == "max_min_fairness_packed") {
    outcome.shares = MaxMinPacked(s.problem);
  } else if (s.policy == "min_total_duration_packed") {
    outcome.shares = MakespanPacked(s.problem, s.work);
  } else {
    std::vector<double> weighted = s.work;
    for (std::size_t i = 0; i < weighted.size(); ++i) {
      weighted[i] *= s.text.at("jobs").at(i).at("priority_weight").get<double>();
    }
    outcome.shares = FinishTimePacked(s.problem, s.work, s.elapsed, s.alone, weighted);
  }
  CompareObjective(s, &outcome);
  return outcome;
}

Outcome SolveSnapshot(const Snapshot& s) {
  const ShareProblem& problem = s.problem.alone;
  const std::string& policy = s.policy;
  if (policy == "hierarchical") return SolveEntities(s);
  if (policy == "allox") return SolveAllox(s);
  if (policy == "gandiva") return SolveGandiva(s);
  if (policy.starts_with("max_min_fairness_water_filling")) return SolveWaterFilling(s);
  if (policy == "min_total_duration" || policy == "min_total_duration_perf") {
    return SolveMakespan(s);
  }
  Outcome outcome;
  if (policy == "isolated" || policy == "fifo_perf" || policy == "fifo_packed") {
    outcome.shares = policy == "isolated"    ? Alone(EvenShares(problem))
                     : policy == "fifo_perf" ? Alone(FirstComeShares(problem))
                                             : FirstComePacked(s.problem);
    CompareShares(s, &outcome);
    return outcome;
  }
  if (policy.ends_with("_packed")) return SolvePacked(s);
  if (policy == "max_min_fairness" || policy == "max_min_fairness_perf") {
    outcome.shares = Alone(MaxMinShares(problem));
  } else if (policy == "max_sum_throughput_perf") {
    outcome.shares = Alone(MaxSumShares(problem, problem.rate));
  } else if (policy == "finish_time_fairness" || policy == "finish_time_fairness_perf") {
    outcome.shares = Alone(FinishTimeShares(problem, s.work, s.elapsed, s.alone));
  } else {
    throw DataError("{}: no policy '{}' is known", s.path, policy);
  }
  CompareObjective(s, &outcome);
  return outcome;
}

// "" or which limit the shares break.
std::string Broken(const ShareProblem& problem, const PackedShares& shares) {
  const std::size_t types = problem.types();
  std::vector<double> time(problem.jobs(), 0.0);
  std::vector<double> used(types, 0.0);
  for (std::size_t v = 0; v < shares.of.size(); ++v) {
    if (!(shares.of[v] >= 0)) return fmt::format("job {} has share {}", v / types, shares.of[v]);
    time[v / types] += shares.of[v];
    used[v % types] += shares.of[v] * problem.gpus[v / types];
  }
  for (const PairShare& pair : shares.pairs) {
    time[At(pair.first)] += pair.share;
    time[At(pair.second)] += pair.share;
    used[pair.type] += pair.share * problem.gpus[At(pair.first)];
  }
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (time[i] > 1 + kRounding) return fmt::format("job {} has {} of its time", i, time[i]);
  }
  for (std::size_t g = 0; g < types; ++g) {
    if (used[g] > problem.capacity[g] + kRounding) {
      return fmt::format("type {} gives {} of {} GPUs", g, used[g], problem.capacity[g]);
    }
  }
  return "";
}

FidelityResult RunSnapshot(const Snapshot& snapshot) {
  FidelityResult result;
  result.name = "snapshots." + snapshot.name;
  result.jobs = static_cast<std::int64_t>(snapshot.problem.alone.jobs());
  result.largest_difference_s = kUnknown;
  result.mean_difference_s = kUnknown;
  const double begin = ThreadCpuSeconds();
  const Outcome outcome = SolveSnapshot(snapshot);
  result.our_cpu_s = ThreadCpuSeconds() - begin;
  const double close = snapshot.policy == "hierarchical" ? kCloseOfTwoFloors : kClose;
  result.note = fmt::format("relative error {:.1e}", outcome.error);
  result.first_difference = Broken(snapshot.problem.alone, outcome.shares);
  if (result.first_difference.empty() && !(outcome.error <= close)) {
    result.first_difference = fmt::format("{}, relative {:.3g}, at most {:.0e} is equal",
                                          outcome.of, outcome.error, close);
  }
  if (!result.first_difference.empty()) result.verdict = FidelityResult::Verdict::kDifferent;
  return result;
}

}  // namespace

std::vector<FidelityCase> GavelSnapshotCases(const std::string& folder) {
  std::vector<FidelityCase> cases;
  const fs::path root = fs::path(folder) / "snapshots";
  if (!fs::is_directory(root)) return cases;
  const PairRates rates =
      ReadPairRates((fs::path(folder) / "colocated_throughputs_simulation.csv").string());
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".json") continue;
    try {
      const auto snapshot = std::make_shared<const Snapshot>(ReadSnapshot(path, rates));
      cases.push_back({"snapshots." + snapshot->name, [snapshot] { return RunSnapshot(*snapshot); },
                       [] { return kUnknown; }});
    } catch (const json::exception& error) {
      throw DataError("{}: a snapshot of a decision was expected: {}", path, error.what());
    } catch (const Error& error) {
      throw DataError("{}: {}", path, error.what());
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const FidelityCase& a, const FidelityCase& b) { return a.name < b.name; });
  return cases;
}

}  // namespace allot
