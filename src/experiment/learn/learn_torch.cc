#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "agents/learned/agent.h"
#include "agents/training/objective.h"
#include "agents/training/tune.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/file.h"
#include "core/interrupt.h"
#include "core/json_text.h"
#include "core/parallel.h"
#include "core/version.h"
#include "experiment/experiment.h"
#include "experiment/learn/learn.h"
#include "experiment/learn/learn_summary.h"
#include "experiment/learn/learning_periods.h"
#include "experiment/model_card.h"
#include "experiment/sources.h"
#include "experiment/spec_list.h"
#include "experiment/training/training_run.h"
#include "experiment/world.h"
#include "metrics/evaluation.h"
#include "models/checkpoint.h"
#include "report/report.h"
#include "workload/calendar.h"
#include "workload/history_file.h"

namespace allot {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMostDecisions = 1'000'000;
constexpr int kWindows = 4;  // of each part of a trace
constexpr int kDraws = 2;    // from a window, at each load
// Of each part of a setting or law there are workloads of so much size, within bounds.
constexpr int kSizeToTune = 2000;
constexpr int kSizeToJudge = 8000;
constexpr int kFewestMade = 12;
constexpr int kMostMade = 400;
// Of made workloads, apart from tests and from each other.
constexpr std::uint64_t kTuningSeed = 0x6c6561726e000000ULL;
constexpr std::uint64_t kValidationSeed = 0x6c6561726f000000ULL;

// Of an iteration of training. Few: its pairs of policies play the same workloads, so that more of
// them tell little more, and more iterations do.
constexpr int kSizeOfIteration = 480;
constexpr int kFewestOfIteration = 2;
constexpr int kMostOfIteration = 32;
constexpr int kValidations = 8;

// The part of the minutes that is left over from the rules, and that training gets. The rest is for
// validation and test.
constexpr double kTrainingShare = 0.7;
constexpr double kProbeSeconds = 2;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class LearningRun {
 public:
  LearningRun(const LearnOptions& options, const GlobalOptions& globals)
      : o_(options),
        globals_(globals),
        out_(options.out),
        begin_(Clock::now()),
        objective_(ObjectiveNamed(options.objective)) {
    World world(o_.world, &cache_);
    if (!world.in_settings()) world.GoByTimeLimits("none");
    spec_ = world.spec();
    spec_.workloads = std::max(spec_.workloads, static_cast<int>(spec_.loads.size()));
    made_ = world.in_settings() || world.made_by_law();
    name_ = world.name();
    base_ = world.TunedIndices().at(name_);
    read_note_ = made_ ? "" : world.ReadNote();
    if (!made_) Divide(world);
    const auto first = MakeWorld(spec_).Scenarios().front().scenario;
    lengths_ = first->options().lengths.ToString();
    speeds_ = first->options().beliefs;
    const std::vector<Job>& jobs = first->workload().jobs;
    const double intervals = (jobs.back().submit - jobs.front().submit) / first->options().interval;
    size_ = std::max(static_cast<int>(jobs.size()), static_cast<int>(intervals));
    OpenFolder();
  }

  void Run() {
    Say(read_note_);
    Say(summary_.periods + "\n");
    BeginAtDefaultRule();
    if (Learns()) {
      FindRule();
      TrainNetwork();
      JudgeNetwork();
    }
    SavePolicy();
    Test();
    Write();
  }

 private:
  // --- The world and its parts ---

  World MakeWorld(const WorldSpec& spec) { return World(spec, &cache_); }

  void Divide(World& world) {
    const Workload& trace = world.trace();
    const Seconds from = spec_.from.empty() ? trace.recorded_from : ParseWhen(trace, spec_.from);
    const Seconds to = spec_.to.empty() ? kNever : ParseWhen(trace, spec_.to);
    periods_ = DivideForLearning(trace, from, to);
    summary_.periods = PeriodsInWords(trace, periods_);
    summary_.divided = periods_;
  }

  WorldSpec Between(const WorldSpec& spec, Seconds from, Seconds to) const {
    WorldSpec part = spec;
    part.from = fmt::format("{}", from);
    part.to = fmt::format("{}", to);
    return part;
  }

  // Of a setting or law, of so much size in all.
  int WorkloadsFor(int size, int fewest, int most) const {
    return std::clamp(size / size_, fewest, most);
  }

  std::vector<World::Named> Made(const WorldSpec& spec, std::uint64_t seed, int size) {
    WorldSpec part = spec;
    part.workloads = WorkloadsFor(size, kFewestMade, kMostMade);
    part.seed = seed;
    return MakeWorld(part).Scenarios();
  }

  bool Learns() const { return made_ || periods_.divided(); }

  // Windows of [from, to), each whole or, with --load, drawn from.
  std::vector<World::Named> Windows(const WorldSpec& spec, Seconds from, Seconds to) {
    World all = MakeWorld(spec);
    const std::vector<Seconds> bounds =
        WindowBounds(all.trace(), from, to, Learns() ? kWindows : 1);
    std::vector<World::Named> scenarios;
    for (std::size_t k = 0; k + 1 < bounds.size(); ++k) {
      WorldSpec part = Between(spec, bounds[k], bounds[k + 1]);
      part.span = fmt::format("{}", bounds[k + 1] - bounds[k]);
      part.workloads = part.loads.empty() ? 1 : static_cast<int>(part.loads.size()) * kDraws;
      part.seed = spec.seed + k * static_cast<std::size_t>(part.workloads);
      for (World::Named& named : MakeWorld(part).Scenarios()) {
        named.window = static_cast<std::int32_t>(k);
        scenarios.push_back(std::move(named));
      }
    }
    return scenarios;
  }

  std::vector<World::Named> TuningScenarios(const WorldSpec& spec) {
    return made_ ? Made(spec, kTuningSeed, kSizeToTune)
                 : Windows(spec, periods_.tuning, periods_.validation);
  }
  std::vector<World::Named> ValidationScenarios() {
    return made_ ? Made(spec_, kValidationSeed, kSizeToJudge)
                 : Windows(spec_, periods_.validation, periods_.test);
  }
  std::vector<World::Named> TestScenarios(const WorldSpec& spec) {
    return made_ ? Made(spec, spec.seed, kSizeToJudge) : Windows(spec, periods_.test, periods_.end);
  }

  // --- Policies ---

  // The jobs of the trace until then are known; none of a made workload.
  std::shared_ptr<const History> HistoryUntil(Seconds until) {
    std::shared_ptr<const History>& history = histories_[until];
    if (history == nullptr) {
      history = std::make_shared<const History>(
          History{.trace = MakeWorld(spec_).trace(), .until = until});
    }
    return history;
  }

  LengthModel LengthsFor(const std::string& rule, Seconds until) {
    return made_ || !Forecasts(rule) ? LengthModel{} : LengthModelOf(HistoryUntil(until));
  }

  static bool Forecasts(const std::string& rule) {
    const auto given = ParseNamedParams(rule).given;
    const auto basis = given.find("basis");
    return basis != given.end() && basis->second == "gittins";
  }

  // Rules are served as the network that adds nothing to them, as the accepted one will be.
  Agent AgentOf(const std::string& rule, Seconds until) {
    NetWeights weights = MakeNetwork("offsets", 1);
    NetworkOf(weights).begin_in(&weights, name_, rule);
    return {std::move(weights), LengthsFor(rule, until)};
  }

  std::vector<double> Values(const std::vector<World::Named>& scenarios, const Agent& agent) {
    std::vector<double> values(scenarios.size());
    ParallelFor(scenarios.size(), globals_.threads, [&](std::size_t i) {
      const auto policy = MakeLearnedPolicy(agent, {.world = name_});
      values[i] = PlayFor(objective_, *scenarios[i].scenario, *policy, kMostDecisions);
    });
    return values;
  }

  static std::vector<std::int32_t> WindowsIn(const std::vector<World::Named>& scenarios) {
    std::vector<std::int32_t> windows;
    windows.reserve(scenarios.size());
    for (const World::Named& named : scenarios) windows.push_back(named.window);
    return windows;
  }

  // --- The rule ---

  std::string Tuned(const WorldSpec& spec, std::vector<std::string> bases, bool ranked) {
    std::vector<std::shared_ptr<const Scenario>> scenarios;
    for (World::Named& named : TuningScenarios(spec))
      scenarios.push_back(std::move(named.scenario));
    TuneOptions options;
    options.bases = std::move(bases);
    options.start = base_;
    options.objective = objective_;
    options.max_decisions = kMostDecisions;
    options.ranked = ranked;
    options.threads = globals_.threads;
    if (!made_) {
      options.history = "before";  // the loader knows which
      options.loader = [known = HistoryUntil(periods_.tuning)](std::string_view kind,
                                                               const std::string& value) {
        return kind == "history" ? std::any(known) : FileLoader()(kind, value);
      };
    }
    std::string rule = TuneIndex(scenarios, options).ranked_spec;
    const std::string history = ",history=" + options.history;
    if (const auto at = rule.find(history); !options.history.empty() && at != std::string::npos) {
      rule.erase(at, history.size());  // an agent brings its own
    }
    return rule;
  }

  void BeginAtDefaultRule() {
    rule_ = base_;
    summary_.parts.push_back({.name = "default rule", .policy = base_, .kept = true});
  }

  void FindRule() {
    validation_ = ValidationScenarios();
    best_ = Values(validation_, AgentOf(rule_, periods_.validation));
    const auto given = ParseNamedParams(base_).given;
    const bool has_basis = given.contains("basis");
    const bool lengths_known = lengths_ != "none";
    std::vector<std::string> bases = has_basis ? std::vector{given.at("basis")}
                                               : std::vector<std::string>{"remaining", "attained"};
    Say("tuning the rule");
    Try("tuned", Stage("tuned", [&] { return Tuned(spec_, bases, lengths_known); }),
        Needs::kLowerMean);
    if (!has_basis || given.at("basis") != "gittins") {
      Say("tuning the rule with forecasts of lengths");
      Try("+ lengths", Stage("lengths", [&] { return Tuned(spec_, {"gittins"}, false); }),
          Needs::kWholeInterval);
    }
    if (lengths_ != "true" && spec_.setting.empty()) {  // a setting fixes what is known
      Say("tuning the rule as if all lengths were known");
      WorldSpec known = spec_;
      known.lengths = "true";
      oracle_ = Stage("oracle", [&] { return Tuned(known, {"remaining"}, true); });
    }
  }

  enum class Needs { kLowerMean, kWholeInterval };

  // Keeps the rule if it is better on validation than what there is.
  void Try(const std::string& name, const std::string& rule, Needs needs) {
    LearnedPart part{.name = name, .policy = rule};
    const std::vector<double> values = Values(validation_, AgentOf(rule, periods_.validation));
    part.validation = ComparePaired(values, best_, WindowsIn(validation_));
    part.kept = needs == Needs::kLowerMean ? part.validation.mean < 1
                                           : part.validation.side() == PairedRatio::Side::kBelow;
    if (part.kept) {
      rule_ = rule;
      best_ = values;
    }
    summary_.parts.push_back(std::move(part));
  }

  // --- The network ---

  TrainOptions Training(int iterations) {
    TrainOptions train;
    train.world = made_ ? spec_ : Between(spec_, periods_.begin, periods_.validation);
    train.command = o_.command;
    train.network = "offsets";
    train.index = rule_;
    train.objective = o_.objective;
    train.method = fmt::format("evolution:objective={},average-decay=0.95", o_.objective);
    train.out = Path("train");
    train.how_to_continue = "continue with --resume";
    train.trainer.lengths = LengthsFor(rule_, periods_.validation);
    train.trainer.iterations = iterations;
    train.trainer.workloads =
        made_ ? WorkloadsFor(kSizeOfIteration, kFewestOfIteration, kMostOfIteration)
              : kFewestOfIteration;
    train.validation_workloads =
        made_ ? WorkloadsFor(kSizeToTune, kFewestMade, kMostMade) : 2 * kWindows;
    train.validate_every = std::max(1, iterations / kValidations);
    if (!made_) {
      const Seconds days3 = 3 * 86400;
      const Seconds span = std::min(days3, (periods_.validation - periods_.begin) / kWindows);
      train.episode_span = fmt::format("{}", span);
    }
    return train;
  }

  // As many as fit into `seconds`, by the time of the first ones.
  int IterationsIn(double seconds) {
    for (int probed = 1;; probed *= 2) {
      TrainOptions probe = Training(probed);
      probe.out = Path("probe");
      probe.validation_workloads = 1;
      probe.validate_every = probed;
      const Clock::time_point begin = Clock::now();
      RunTraining(probe, {.quiet = true, .threads = globals_.threads});
      const double took = SecondsSince(begin);
      fs::remove_all(probe.out);
      if (took < kProbeSeconds) continue;
      return std::clamp(static_cast<int>(probed * seconds / took), 1, 100'000);
    }
  }

  void TrainNetwork() {
    const double left = std::max(1.0, kTrainingShare * (60 * o_.minutes - SecondsSince(begin_)));
    try {
      iterations_ = std::stoi(Stage("iterations", [&] {
        return std::to_string(o_.iterations > 0 ? o_.iterations : IterationsIn(left));
      }));
      TrainOptions train = Training(iterations_);
      train.resume = fs::exists(out_ / "train" / "latest");
      Say(fmt::format("training a network: {}", Counted(iterations_, "iteration")));
      RunTraining(train, globals_);
    } catch (const Error& error) {
      fs::remove_all(out_ / "probe");
      if (error.code() == ExitCode::kBadData) {  // windows of the trace without jobs
        Say(fmt::format("no network is trained: {}", error.what()));
        return;
      }
      if (error.code() != ExitCode::kInterrupted) throw;
      AcknowledgeInterrupt();
      Say("stopped: what was best so far is validated and tested");
      interrupted_ = true;
    }
  }

  std::string BestNetwork() const { return (out_ / "train" / "best").string(); }

  void JudgeNetwork() {
    if (!fs::exists(BestNetwork())) return;
    LearnedPart part{.name = "+ network",
                     .policy = fmt::format("evolution, {}", Counted(iterations_, "iteration"))};
    part.validation =
        ComparePaired(Values(validation_, LoadAgent(BestNetwork())), best_, WindowsIn(validation_));
    part.kept = part.validation.side() == PairedRatio::Side::kBelow;
    has_network_ = part.kept;
    summary_.parts.push_back(std::move(part));
  }

  // --- The result ---

  // With the lengths of all jobs before the test.
  void SavePolicy() {
    Checkpoint checkpoint;
    if (has_network_) {
      checkpoint = LoadCheckpoint(BestNetwork());
    } else {
      checkpoint.weights = AgentOf(rule_, periods_.test).weights;
      checkpoint.feature_version = NetworkOf(checkpoint.weights).feature_version;
      checkpoint.state = {{"stage", "rule"}};
    }
    AddLengths(LengthsFor(rule_, periods_.test), &checkpoint.state);
    World known = MakeWorld(made_ ? spec_ : Between(spec_, periods_.begin, periods_.test));
    checkpoint.config["sources"] = SourcesOf(known);
    if (!made_) checkpoint.config["length_estimates"] = lengths_;
    checkpoint.card = ModelCard(has_network_ ? fmt::format("Network 'offsets' on {}", rule_)
                                             : fmt::format("Rule {}", rule_),
                                o_.command, PartsInWords(summary_));
    SaveCheckpoint(checkpoint, Path("policy"));
    agent_ = LoadAgent(Path("policy"));
  }

  Contender ContenderOf(const std::string& id, const std::string& rule) {
    return {.id = id,
            .make = [agent = std::make_shared<const Agent>(AgentOf(rule, periods_.test)),
                     name = name_] { return MakeLearnedPolicy(*agent, {.world = name}); },
            .spec = rule};
  }

  void Test() {
    const std::vector<World::Named> scenarios = TestScenarios(spec_);
    World world = MakeWorld(made_ ? spec_ : Between(spec_, periods_.test, periods_.end));
    if (!made_) world.trace();  // its report belongs to the evaluation
    std::vector<Contender> contenders = {
        {.id = "learned",
         .make = [this] { return MakeLearnedPolicy(agent_, {.world = name_}); },
         .spec = "learned:checkpoint=" + Path("policy")}};
    for (const LearnedPart& part : summary_.parts) {
      if (part.policy == rule_ && !has_network_) continue;  // it is the learned one
      if (part.name == "tuned") contenders.push_back(ContenderOf("tuned", part.policy));
      if (part.name == "+ lengths") contenders.push_back(ContenderOf("forecasts", part.policy));
    }
    for (Contender& contender : ParseContenders(world, world.ComparedPolicies())) {
      contenders.push_back(std::move(contender));
    }
    Say("testing on jobs that nothing was made from");
    ExperimentOptions options;
    options.title = "Unseen jobs";
    options.training_overlap = TrainingOverlap::kUnseen;
    options.reference = "learned";
    options.command = o_.command;
    options.out = Path("evaluate");
    options.threads = globals_.threads;
    options.show_progress = !globals_.quiet;
    summary_.evaluation = RunExperiment(world, scenarios, contenders, options);
    summary_.rigid = std::all_of(scenarios.begin(), scenarios.end(), [](const World::Named& named) {
      const auto& jobs = named.scenario->workload().jobs;
      return std::all_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.rigid(); });
    });
    summary_.lengths = lengths_;
    MeasureParts(scenarios);
  }

  void MeasureParts(const std::vector<World::Named>& scenarios) {
    const std::vector<std::int32_t> windows = WindowsIn(scenarios);
    const std::vector<double> first = Values(scenarios, AgentOf(base_, periods_.test));
    std::vector<double> before = first;
    std::vector<double> of_rule = first;  // before lengths and network
    for (LearnedPart& part : summary_.parts) {
      const bool network = part.name == "+ network";
      Agent agent = network ? LoadAgent(BestNetwork()) : AgentOf(part.policy, periods_.test);
      if (network) agent.lengths = LengthsFor(rule_, periods_.test);
      const std::vector<double> values = Values(scenarios, agent);
      part.unseen_of_default = ComparePaired(values, first, windows);
      part.unseen_of_before = ComparePaired(values, before, windows);
      if (part.kept) before = values;
      if (part.kept && !part.name.starts_with("+ ")) of_rule = values;
    }
    summary_.unseen_of_rule = ComparePaired(before, of_rule, windows);
    if (oracle_) {
      WorldSpec known = spec_;
      known.lengths = "true";
      summary_.known_lengths = ComparePaired(
          Values(TestScenarios(known), AgentOf(*oracle_, periods_.test)), before, windows);
    }
    if (speeds_.starts_with("measured") || speeds_.starts_with("online")) {
      summary_.learned_speeds =
          ComparePaired(Values(TestScenarios(WithLearnedSpeeds()), agent_), before, windows);
    }
  }

  WorldSpec WithLearnedSpeeds() const {
    WorldSpec spec = spec_;
    if (spec.setting.empty()) {
      spec.beliefs = "learned";
      return spec;
    }
    std::vector<std::string> settings;
    for (const std::string& setting : SplitSettings(spec.setting)) {
      settings.push_back(SpecWith(setting, "beliefs", "learned"));
    }
    spec.setting = fmt::format("{}", fmt::join(settings, ","));
    return spec;
  }

  void Write() {
    summary_.objective = o_.objective;
    summary_.rule = rule_;
    summary_.interrupted = interrupted_;
    summary_.repeat = o_.command;
    if (o_.iterations == 0 && iterations_ > 0 && !interrupted_) {
      summary_.repeat += fmt::format(" --iterations {}", iterations_);
    }
    state_["result"] = ToJson(summary_);
    WriteState();
    ReportInput report;
    report.title = "A learned policy";
    report.version = Version();
    report.commands = {summary_.repeat};
    report.evaluation_dirs = {Path("evaluate")};
    if (fs::exists(BestNetwork())) report.training_dirs.push_back(Path("train"));
    report.lead_html = PartsTable(summary_).ToHtml();
    WriteReport(report, Path("report.html"));
    if (globals_.json) {
      std::printf("%s\n", JsonText(state_["result"]).c_str());
    } else {
      std::printf("%s", SummaryText(summary_).c_str());
    }
    Say(fmt::format("policy: {} (serve it with --checkpoint), report: {}", Path("policy"),
                    Path("report.html")));
  }

  // --- The folder ---

  std::string Path(const char* name) const { return (out_ / name).string(); }

  void OpenFolder() {
    const fs::path file = out_ / "learn.json";
    Json options = {{"world", MakeWorld(spec_).ToJson()},
                    {"objective", o_.objective},
                    {"iterations", o_.iterations}};
    if (!fs::exists(file)) {
      if (o_.resume) throw UsageError("--resume needs a run, and '{}' has none", o_.out);
      state_ = {{"version", Version()}, {"command", o_.command}, {"options", options}};
      return;
    }
    if (!o_.resume) {
      throw UsageError(
          "'{}' contains a run of learn: add --resume to continue it, or choose another --out",
          o_.out);
    }
    state_ = Json::parse(ReadTextFile(file.string()), nullptr, false);
    if (!state_.is_object() || !state_.contains("options")) {
      throw DataError("{}: is no file of 'allot learn'", file.string());
    }
    for (const auto& [key, value] : options.items()) {
      if (state_["options"].value(key, Json()) == value) continue;
      throw UsageError("--resume needs the options of the run: {} was {}, got {}", key,
                       state_["options"].value(key, Json()).dump(), value.dump());
    }
  }

  void WriteState() { WriteTextFile(out_ / "learn.json", JsonText(state_) + "\n"); }

  // What was computed once is kept for --resume.
  std::string Stage(const std::string& name, const std::function<std::string()>& compute) {
    if (!state_["stages"].contains(name)) {
      state_["stages"][name] = compute();
      WriteState();
    }
    return state_["stages"][name];
  }

  void Say(const std::string& what) const {
    if (globals_.quiet || what.empty()) return;
    std::fprintf(stderr, "%s%s", what.c_str(), what.back() == '\n' ? "" : "\n");
  }

  const LearnOptions& o_;
  const GlobalOptions& globals_;
  const fs::path out_;
  const Clock::time_point begin_;
  const Objective objective_;
  WorkloadCache cache_;
  WorldSpec spec_;     // with what policies know of lengths
  bool made_ = false;  // workloads are made by seeds, not read
  std::string name_;   // of the world, for networks
  std::string base_;   // the default rule
  std::string read_note_;
  std::string lengths_;  // what policies know of them
  std::string speeds_;   // likewise
  int size_ = 0;         // of a workload: jobs or, if more, intervals in which they come
  LearningPeriods periods_{};
  std::map<Seconds, std::shared_ptr<const History>> histories_;
  Json state_;
  std::vector<World::Named> validation_;
  std::string rule_;          // the best one
  std::vector<double> best_;  // its values on validation
  std::optional<std::string> oracle_;
  int iterations_ = 0;        // of the network
  bool has_network_ = false;  // it is part of the accepted policy
  bool interrupted_ = false;
  Agent agent_;
  LearnSummary summary_;
};

}  // namespace

void RunLearning(const LearnOptions& options, const GlobalOptions& globals) {
  LearningRun(options, globals).Run();
}

}  // namespace allot
