#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agents/learned/agent.h"
#include "agents/training/tune.h"
#include "core/error.h"
#include "core/parallel.h"
#include "envs/setting.h"
#include "experiment/claims/claims_run.h"
#include "experiment/training/training_run.h"
#include "experiment/world.h"
#include "metrics/service.h"
#include "sim/alone_times.h"
#include "sim/even_durations.h"
#include "sim/profile.h"
#include "workload/history_file.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostTrainingDecisions = 4000;
// Apart from tests and training.
constexpr std::uint64_t kTuningSeeds = 0x74756e6500000000ULL;
constexpr std::uint64_t kGateSeeds = 0x6761746500000000ULL;

// Of one policy in one workload.
enum Measure : std::size_t { kMeanJct, kP99, kSlowdown, kShortest, kUnfair, kMeasures };
using Measures = std::array<double, kMeasures>;
const std::array<const char*, kMeasures> kMeasureNames = {"mean JCT", "p99 JCT", "bounded slowdown",
                                                          "mean JCT of the 95 % shortest",
                                                          "1 + share of jobs with rho > 1"};
constexpr std::array<double, kMeasures> kGuards = {0, 1.03, 1.02, 1.02, 0};

// Of the jobs that ended those with rho > 1 (metrics/service.h).
double UnfairShare(const Played& played) {
  const Scenario& scenario = *played.scenario;
  AloneTimes alone(scenario);
  const std::vector<double> rho = FinishTimeFairness(
      scenario.workload(), scenario.cluster().total().gpus, played.records, played.records,
      EvenDurations(scenario), [&](JobIndex job, double gpus) { return alone.Of(job, gpus); });
  const auto unfair = std::count_if(rho.begin(), rho.end(), [](double r) { return r > 1; });
  return static_cast<double>(unfair) / static_cast<double>(std::max<std::size_t>(1, rho.size()));
}

Measures Play(const Scenario& scenario, Policy& policy, std::int64_t most_decisions) {
  constexpr Seconds kFloor = 600;
  Measures measures{};
  const auto p99 = ObjectiveNamed("p99");
  PlayFor(
      [&](const Played& played) {
        measures[kMeanJct] = TrimmedMean(played.jct, 1);
        measures[kP99] = p99(played);
        measures[kShortest] = TrimmedMean(played.jct, 0.95);
        for (std::size_t i = 0; i < played.jct.size(); ++i) {
          const double length = std::max(kFloor, scenario.workload().jobs[i].duration);
          measures[kSlowdown] +=
              std::max(1.0, played.jct[i] / length) / static_cast<double>(played.jct.size());
        }
        measures[kUnfair] = 1 + UnfairShare(played);
        return 1.0;
      },
      scenario, policy, most_decisions);
  return measures;
}

class FamilyRun {
 public:
  FamilyRun(const ClaimFamily& family, const ClaimsOptions& options, const GlobalOptions& globals)
      : family_(family), o_(options), globals_(globals) {}

  FamilyFindings Run() {
    for (const ClaimedSetting& setting : family_.settings) {
      if (setting.tune.empty()) continue;
      Say(fmt::format("tuning the fixed index of {}", setting.name));
      index_[setting.name] = Tune(setting.tune, false).spec;
    }
    if (family_.policy.empty()) {
      ranked_ = !family_.start.empty() ? family_.start : Tune(family_.ranked_in, true).ranked_spec;
      for (int seed = 1; seed <= o_.seeds; ++seed) learned_.push_back(Train(seed));
    } else {
      learned_.push_back(Named(family_.policy));
    }
    std::vector<Finding> findings;
    for (const ClaimedSetting& setting : family_.settings) {
      Say(fmt::format("testing in {}", setting.name));
      Test(setting, &findings);
    }
    for (const ClaimLimit& limit : family_.pooled) {
      findings.push_back(Compare(fmt::format("{}, all of these", family_.id), limit.opponent,
                                 all_learned_, all_others_.at(limit.opponent), kMeanJct,
                                 limit.most));
    }
    return {family_, std::move(findings), index_, ranked_, accepted_};
  }

 private:
  void Say(const std::string& what) const {
    if (!globals_.quiet) std::fprintf(stderr, "%s: %s\n", family_.id.c_str(), what.c_str());
  }

  TunedIndex Tune(const std::string& spec, bool ranked) const {
    const auto scenarios = Scenarios(spec, kTuningSeeds, o_.claims.quick ? 10 : 20);
    TuneOptions tune;
    tune.bases = family_.bases;
    tune.history = family_.history;
    tune.objective = ObjectiveNamed(ranked ? family_.objective : "jct");
    tune.max_decisions = kMostTrainingDecisions;
    tune.ranked = ranked;
    tune.passes = o_.claims.quick ? 1 : 2;
    tune.threads = globals_.threads;
    return TuneIndex(scenarios, tune);
  }

  // Of the weights those that were best on validation workloads, the first ones included.
  PolicyMaker Train(int seed) {
    TrainOptions train;
    std::string settings;
    for (const std::string& spec : family_.training) {
      settings += (settings.empty() ? "" : ",") + spec;
    }
    train.world.setting = settings;
    train.command = o_.command;
    train.start = ranked_;
    if (!fs::is_directory(train.start)) train.teacher = train.start;  // else the network's own
    train.method = family_.method;
    train.history = family_.history;
    train.out = (fs::path(o_.out) / fmt::format("{}-seed{}", family_.id, seed)).string();
    train.resume = fs::exists(fs::path(train.out) / "latest");
    train.how_to_continue =
        fmt::format("run the same command again: it continues in '{}'", train.out);
    train.validation_workloads = family_.validation;
    train.validate_every = std::max(1, family_.iterations / 10);
    train.trainer.seed = static_cast<std::uint64_t>(seed);
    train.trainer.iterations = family_.iterations;
    train.trainer.workloads = family_.workloads;
    Say(fmt::format("training, seed {}", seed));
    GlobalOptions quiet = globals_;
    quiet.json = false;
    RunTraining(train, quiet);
    const Agent agent = LoadAgent((fs::path(train.out) / "best").string());
    const PolicyMaker learned = [agent, world = family_.profile] {
      return MakeLearnedPolicy(agent, {.world = world});
    };
    const PolicyMaker start = Named(train.start);
    if (!family_.gate.empty() && !Passes(learned, start)) return start;
    ++accepted_;
    return learned;
  }

  // The gate: the network counts only where its mean JCT is plainly lower; else the index at which
  // its weights began is the policy.
  bool Passes(const PolicyMaker& learned, const PolicyMaker& start) const {
    const int episodes = o_.claims.quick ? 12 : 24;
    const auto scenarios = Scenarios(family_.gate, kGateSeeds, episodes);
    const Finding finding = Compare("gate", "its start", PlayAll(scenarios, learned),
                                    PlayAll(scenarios, start), kMeanJct, 0);
    Say(fmt::format("mean JCT {:.4f} [{:.4f}, {:.4f}] of its start's in training weeks",
                    finding.ratio.mean, finding.ratio.low, finding.ratio.high));
    return finding.ratio.high < 1;
  }

  static std::vector<std::shared_ptr<const Scenario>> Scenarios(const std::string& spec,
                                                                std::uint64_t first, int n) {
    const Setting setting = MakeSetting(spec);
    std::vector<std::shared_ptr<const Scenario>> scenarios;
    for (int k = 0; k < n; ++k) {
      scenarios.push_back(setting.episodes(first + static_cast<std::uint64_t>(k)));
    }
    return scenarios;
  }

  std::vector<Measures> PlayAll(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                                const PolicyMaker& make) const {
    std::vector<Measures> measures(scenarios.size());
    ParallelFor(scenarios.size(), globals_.threads, [&](std::size_t i) {
      measures[i] = Play(*scenarios[i], *make(), family_.most_decisions);
    });
    return measures;
  }

  PolicyMaker Named(const std::string& spec) const {
    const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", family_.profile);
    return [spec = PolicySpecUnder(profile, spec)] { return MakePolicy(spec, FileLoader()); };
  }

  void Test(const ClaimedSetting& claimed, std::vector<Finding>* findings) {
    const auto scenarios = Scenarios(claimed.test, 0, o_.workloads * claimed.times);
    // Of the seeds the mean, workload by workload.
    std::vector<Measures> learned(scenarios.size(), Measures{});
    for (const PolicyMaker& one : learned_) {
      const auto played = PlayAll(scenarios, one);
      for (std::size_t i = 0; i < played.size(); ++i) {
        for (std::size_t m = 0; m < kMeasures; ++m) {
          learned[i][m] += played[i][m] / static_cast<double>(learned_.size());
        }
      }
    }
    all_learned_.insert(all_learned_.end(), learned.begin(), learned.end());
    for (const ClaimLimit& limit : claimed.limits) {
      std::string name = limit.opponent;
      const std::vector<Measures> other = PlayOpponent(claimed, scenarios, &name);
      std::vector<Measures>& all = all_others_[limit.opponent];
      all.insert(all.end(), other.begin(), other.end());
      findings->push_back(Compare(claimed.name, name, learned, other, kMeanJct, limit.most));
      if (limit.most_p99 > 0) {
        findings->push_back(Compare(claimed.name, name, learned, other, kP99, limit.most_p99));
      }
      if (!family_.guards || (limit.opponent != "INDEX" && limit.opponent != "TUNED")) continue;
      for (const std::size_t m : {kP99, kSlowdown, kShortest, kUnfair}) {
        const double most = m == kUnfair ? family_.most_unfair : kGuards[m];
        findings->push_back(
            Compare(claimed.name, name, learned, other, m, claimed.beyond ? 0 : most));
      }
    }
  }

  // `name`: the opponent of a limit; then the policy, where that is a word for several.
  std::vector<Measures> PlayOpponent(const ClaimedSetting& claimed,
                                     const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                                     std::string* name) const {
    if (*name == "REPAIRED") return BestRepaired(scenarios, name);
    if (*name == "INDEX") return PlayAll(scenarios, Named(index_.at(claimed.name)));
    if (*name == "RANKED") return PlayAll(scenarios, Named(ranked_));
    if (*name == "TUNED") {
      return PlayAll(scenarios, [spec = World::SpecIn(MakeSetting(claimed.test), kTunedIndex)] {
        return MakePolicy(spec, FileLoader());
      });
    }
    return PlayAll(scenarios, Named(*name));
  }

  std::vector<Measures> BestRepaired(const std::vector<std::shared_ptr<const Scenario>>& scenarios,
                                     std::string* name) const {
    std::vector<Measures> best;
    double best_mean = kNever;
    for (const std::string& spec : family_.repaired) {
      std::vector<Measures> played = PlayAll(scenarios, Named(spec));
      double mean = 0;
      for (const Measures& m : played) mean += m[kMeanJct] / static_cast<double>(played.size());
      if (mean >= best_mean) continue;
      best_mean = mean;
      best = std::move(played);
      *name = spec;
    }
    return best;
  }

  static Finding Compare(const std::string& setting, const std::string& opponent,
                         const std::vector<Measures>& learned, const std::vector<Measures>& other,
                         std::size_t measure, double most) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t i = 0; i < learned.size(); ++i) {
      a.push_back(learned[i][measure]);
      b.push_back(other[i][measure]);
    }
    return {setting, opponent, kMeasureNames[measure], ComparePaired(a, b), most};
  }

  const ClaimFamily& family_;
  const ClaimsOptions& o_;
  const GlobalOptions& globals_;
  std::map<std::string, std::string> index_;  // INDEX by setting
  std::string ranked_;                        // where training starts
  std::vector<PolicyMaker> learned_;          // by seed
  std::vector<Measures> all_learned_;         // workloads of all settings, one after the other
  std::map<std::string, std::vector<Measures>> all_others_;  // likewise, by opponent
  int accepted_ = 0;  // of these, networks; the others are what they began at
};

Json FindingJson(const Finding& f) {
  return {{"setting", f.setting},   {"opponent", f.opponent},    {"measure", f.measure},
          {"ratio", f.ratio.mean},  {"low", f.ratio.low},        {"high", f.ratio.high},
          {"workloads", f.ratio.n}, {"must_be_at_most", f.most}, {"holds", f.holds()}};
}

}  // namespace

std::vector<FamilyFindings> RunClaims(const ClaimsOptions& options, const GlobalOptions& globals) {
  std::vector<FamilyFindings> families;
  std::vector<std::string> known;
  for (const ClaimFamily& family : Claims(options.claims)) {
    known.push_back(family.id);
    if (!options.only.empty() && family.id.find(options.only) == std::string::npos) continue;
    families.push_back(FamilyRun(family, options, globals).Run());
  }
  if (families.empty()) {
    throw UsageError("--only '{}' names none of the families {}", options.only,
                     fmt::join(known, ", "));
  }
  return families;
}

int MissedOf(const std::vector<FamilyFindings>& families) {
  std::int64_t missed = 0;
  for (const FamilyFindings& family : families) {
    missed += std::count_if(family.findings.begin(), family.findings.end(),
                            [](const Finding& f) { return !f.holds(); });
  }
  return static_cast<int>(missed);
}

TextTable ClaimsTable(const std::vector<FamilyFindings>& families, const ClaimsOptions& options) {
  TextTable table({{"setting", TextTable::Align::kLeft},
                   {"measure", TextTable::Align::kLeft},
                   {"against", TextTable::Align::kLeft},
                   {"learned / it"},
                   {"95 % interval"},
                   {"at most"},
                   {"", TextTable::Align::kLeft}});
  std::string more;      // settings of other numbers of workloads
  std::string networks;  // how many of each family count
  for (const FamilyFindings& each : families) {
    for (const Finding& f : each.findings) {
      table.AddRow({f.setting, f.measure, f.opponent, fmt::format("{:.4f}", f.ratio.mean),
                    fmt::format("[{:.4f}, {:.4f}]", f.ratio.low, f.ratio.high),
                    f.most > 0 ? fmt::format("{}", f.most) : "",
                    f.holds() ? (f.most > 0 ? "holds" : "") : "missed"});
    }
    for (const ClaimedSetting& setting : each.family.settings) {
      if (setting.times > 1) {
        more += fmt::format(" ({}: {})", setting.name, options.workloads * setting.times);
      }
    }
    if (!each.family.policy.empty()) continue;  // none was trained
    networks += fmt::format("{}{} {}", networks.empty() ? "" : ", ", each.family.id, each.accepted);
  }
  table.AddNote(fmt::format(
      "Means of {} workloads{} that neither training nor tuning saw, paired; {} training seeds.",
      options.workloads, more, options.seeds));
  if (!networks.empty()) {
    table.AddNote(fmt::format(
        "Networks that count, of {} each: {}; else learned is the index that training started at.",
        options.seeds, networks));
  }
  return table;
}

nlohmann::ordered_json ClaimsJson(const std::vector<FamilyFindings>& families) {
  Json findings = Json::array();
  Json indices = Json::object();
  Json accepted = Json::object();
  for (const FamilyFindings& each : families) {
    for (const Finding& f : each.findings) findings.push_back(FindingJson(f));
    for (const auto& [setting, index] : each.index) indices[setting] = index;
    if (!each.family.policy.empty()) continue;
    indices[each.family.id + " RANKED"] = each.ranked;
    accepted[each.family.id] = each.accepted;
  }
  return {{"findings", findings},
          {"index", indices},
          {"accepted", accepted},
          {"missed", MissedOf(families)}};
}

}  // namespace allot
