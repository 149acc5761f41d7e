#include "experiment/world.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "cluster/cluster_format.h"
#include "cluster/gpu_slowness.h"
#include "cluster/topology_text.h"
#include "core/error.h"
#include "core/file.h"
#include "core/index.h"
#include "core/strings.h"
#include "experiment/env_spec.h"
#include "experiment/oversized.h"
#include "experiment/spec_list.h"
#include "metrics/humanise.h"
#include "perf/elastic.h"
#include "perf/load_by_type.h"
#include "sim/objectives.h"
#include "sim/profile.h"
#include "table/csv.h"
#include "workload/arrival_law.h"
#include "workload/history_file.h"
#include "workload/job_rules.h"
#include "workload/name_map.h"
#include "workload/sample.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

// A time of the workload as ParseWhen takes it.
std::string WhenText(const Workload& workload, Seconds time) {
  const auto origin = ParseCalendar(workload.origin);
  if (!origin) return fmt::format("{} s", time);
  return FormatCalendar(*origin + static_cast<std::int64_t>(std::floor(time)));
}

// DataError with file and line for events of nodes that the cluster lacks.
void RequireNodesOf(const ClusterSpec& cluster, const std::string& path) {
  const auto nodes = static_cast<std::int64_t>(cluster.nodes().size());
  const std::string text = ReadTextFile(path);
  CsvReader csv(text, path, {"time_s", "node", "event"});
  while (csv.Next()) {
    const std::int64_t node = csv.Integer("node", 0, std::numeric_limits<std::int32_t>::max());
    if (node < nodes) continue;
    throw DataError("{}: 'node' must be one of the {} nodes of the cluster, from 0 to {}, got {}",
                    csv.place(), nodes, nodes - 1, node);
  }
}

// UsageError that names the file.
void CheckGuarantees(const OperatorRules& rules, const ClusterSpec& cluster,
                     const std::string& path) {
  try {
    rules.CheckGuarantees(cluster);
  } catch (const Error& error) {
    throw UsageError("{}: {}", path, error.what());
  }
}

}  // namespace

ClusterSpec World::cluster() const {
  ClusterSpec cluster = ClusterSpec::Parse(spec_.cluster);
  if (!spec_.topology.empty()) {
    ReadReport report;
    cluster.SetTopology(ParseTopology(spec_.topology, cluster, &report));
  }
  if (!spec_.slowness.empty()) {
    // Rules show policies some of the GPUs, which are then numbered anew.
    if (!spec_.rules.empty()) {
      throw UsageError("--slowness '{}' is of the GPUs of a cluster without --rules, got '{}'",
                       spec_.slowness, spec_.rules);
    }
    cluster.SetSlowness(
        GpuSlowness::FromCsv(ReadTextFile(spec_.slowness), spec_.slowness, cluster));
  }
  return cluster;
}

const std::vector<Setting>& World::mixed_settings() {
  if (settings_.empty() && in_settings()) {
    for (const std::string& spec : SplitSettings(spec_.setting)) {
      settings_.push_back(MakeSetting(spec));
    }
  }
  return settings_;
}

const std::vector<Setting>& World::settings() {
  for (const Setting& setting : mixed_settings()) {
    if (setting.profile == settings_.front().profile) continue;
    throw UsageError("settings must be of one profile, got {} ({}) and {} ({})",
                     settings_.front().name, settings_.front().profile, setting.name,
                     setting.profile);
  }
  return settings_;
}

std::string World::SpecIn(const Setting& setting, const std::string& spec) {
  const bool tuned = spec == kTunedIndex;
  if (tuned && !setting.index.empty()) return setting.index;
  return PolicySpecUnder(Registry<ProfileInfo>::Global().Get("profile", setting.profile),
                         tuned ? "index" : spec);
}

std::map<std::string, std::string> World::TunedIndices() {
  std::map<std::string, std::string> indices;
  if (!in_settings()) indices[name()] = PolicySpecUnder(Rules(), "index");
  for (const Setting& setting : mixed_settings()) {
    const std::string spec = SpecIn(setting, kTunedIndex);
    const auto [known, is_new] = indices.emplace(setting.profile, spec);
    if (is_new || known->second == spec) continue;
    throw UsageError("settings of profile {} begin at one fixed index, got {} and {} (of {})",
                     setting.profile, known->second, spec, setting.name);
  }
  return indices;
}

bool World::made_by_law() const { return !LawName(spec_.workload).empty(); }

bool World::arrivals_continue() const {
  return made_by_law() && !LawFrom(LawName(spec_.workload)).together();
}

Seconds World::tail() const { return spec_.tail.empty() ? 0 : ParseWhen(Workload{}, spec_.tail); }

std::shared_ptr<const Workload> World::MadeByLaw(std::uint64_t seed, ReadReport* report) const {
  if (seed == spec_.seed && trace_ != nullptr) return trace_;
  const WorkloadLaw law = LawFrom(LawName(spec_.workload));
  const double rate = RateOf(law, spec_.rate);
  const LawLength length = {spec_.jobs.value_or(kLawJobs), tail()};
  const auto make = [&] { return Generate(law, rate, seed, length); };
  std::shared_ptr<const Workload> made =
      workload_cache_ == nullptr
          ? std::make_shared<const Workload>(make())
          : workload_cache_->Share({law.id, rate, seed, length.jobs, length.tail}, make);
  report->rows += static_cast<std::int64_t>(made->jobs.size());
  return Prepared(std::move(made), report);
}

std::shared_ptr<const Workload> World::Prepared(std::shared_ptr<const Workload> read,
                                                ReadReport* report) const {
  const bool keeps_sizes = (spec_.rigid || spec_.elastic_users) &&
                           std::any_of(read->jobs.begin(), read->jobs.end(),
                                       [](const Job& job) { return !job.rigid(); });
  const bool renames = !spec_.model_map.empty() || !spec_.type_map.empty();
  const bool any_fit = OversizedFor(*read) == Oversized::kError && report->gpus_on_one_node.empty();
  if (any_fit && !renames && !keeps_sizes && spec_.comm_share == 0) return read;
  auto workload = std::make_shared<Workload>(*read);
  Prepare(workload.get(), report);
  return workload;
}

void World::Prepare(Workload* workload, ReadReport* report) const {
  const ElasticityOptions elasticity = Elasticity();
  for (Job& job : workload->jobs) {
    const bool elastic = !spec_.rigid && MayBecomeElastic(elasticity, *workload, job);
    if (!elastic) KeepRequestedSize(&job);
  }
  if (!spec_.model_map.empty()) {
    NameMap::Parse("model-map", spec_.model_map).RenameModels(workload);
  }
  if (!spec_.type_map.empty()) {
    NameMap::Parse("type-map", spec_.type_map).RenameGpuTypes(workload);
  }
  if (spec_.comm_share > 0) AssumeCommunication(workload, report);
  FitToCluster(OversizedFor(*workload), cluster(), workload, report);
}

void World::AssumeCommunication(Workload* workload, ReadReport* report) const {
  if (spec_.topology.empty() && spec_.slowness.empty()) {
    throw UsageError("--comm-share needs --topology or --slowness, got {} and neither",
                     spec_.comm_share);
  }
  std::int64_t assumed = 0;
  for (Job& job : workload->jobs) {
    if (job.gpus < 2 || job.communication.share > 0) continue;
    job.communication.share = static_cast<float>(spec_.comm_share);
    ++assumed;
  }
  report->notes.push_back(fmt::format("--comm-share {} is assumed for {} of {} jobs",
                                      spec_.comm_share, assumed, workload->jobs.size()));
}

Oversized World::OversizedFor(const Workload& workload) const {
  const Oversized oversized = OversizedNamed(spec_.oversized);
  const bool of_law = oversized == Oversized::kError && made_by_law();
  return of_law && AnyOversized(workload, cluster()) ? Oversized::kDrop : oversized;
}

const Workload& World::trace() {
  if (trace_ != nullptr) return *trace_;
  if (made_by_law()) {
    if (!spec_.columns.empty()) {
      throw UsageError("--columns is for tables, got --workload {}", spec_.workload);
    }
    trace_ = MadeByLaw(spec_.seed, &read_report_);
    return *trace_;
  }
  const auto only_laws = [this](const char* option, const auto& value) {
    return UsageError("{} {} is for a workload made by a law (law:NAME), got --workload {}", option,
                      value, spec_.workload);
  };
  if (spec_.rate) throw only_laws("--rate", *spec_.rate);
  if (spec_.jobs) throw only_laws("--jobs", *spec_.jobs);
  if (!spec_.tail.empty()) throw only_laws("--tail", spec_.tail);
  const auto read = [this](ReadReport* report) {
    return ReadTrace(spec_.workload, spec_.format,
                     ReadOptions{.columns = spec_.columns, .lenient = spec_.lenient}, report);
  };
  if (workload_cache_ != nullptr) {
    trace_ = workload_cache_->Get({spec_.workload, spec_.format, spec_.columns, spec_.lenient},
                                  read, &read_report_);
    trace_ = Prepared(std::move(trace_), &read_report_);
  } else {
    own_trace_ = std::make_shared<Workload>(read(&read_report_));
    Prepare(own_trace_.get(), &read_report_);
    trace_ = own_trace_;
  }
  return *trace_;
}

bool World::reads_file() const {
  return !in_settings() && !made_by_law() && spec_.workload != kEmbeddedWorkload;
}

std::string World::ProfileName() const { return spec_.profile.value_or(kDefaultProfile); }

TimeLimits World::GoByTimeLimits(const std::string& otherwise) {
  if (in_settings()) return {};
  const TimeLimits limits = CountTimeLimits(trace());
  if (spec_.lengths.empty()) spec_.lengths = limits.limited > 0 ? "user" : otherwise;
  return limits;
}

SimOptions World::sim() const {
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", ProfileName()).apply(&options);
  if (spec_.interval) options.interval = *spec_.interval;
  // Autoscalers go by intervals.
  const bool by_intervals = spec_.profile || spec_.interval || !spec_.autoscale.empty();
  if (reads_file() && !by_intervals) options.decide_on_events = true;
  if (spec_.restart_cost) options.restart_cost = *spec_.restart_cost;
  if (spec_.launch_cost) options.launch_cost = *spec_.launch_cost;
  options.speedup *= spec_.speedup;
  if (!spec_.lengths.empty()) options.lengths = LengthEstimates::Parse(spec_.lengths);
  if (!spec_.beliefs.empty()) options.beliefs = spec_.beliefs;
  if (!spec_.progress.empty()) options.progress = spec_.progress;
  if (!spec_.failures.empty()) {
    options.failures = spec_.failures;
    options.checkpoints = "young-daly";
  }
  if (!spec_.failure_mode.empty()) options.node_loss = ParseNodeLoss(spec_.failure_mode);
  if (!spec_.checkpoints.empty()) options.checkpoints = spec_.checkpoints;
  if (!spec_.node_events.empty()) {
    options.node_events = ReadNodeEvents(spec_.node_events);
    RequireNodesOf(cluster(), spec_.node_events);
  }
  if (!spec_.rules.empty()) {
    options.rules = std::make_shared<const OperatorRules>(OperatorRules::FromFile(spec_.rules));
    CheckGuarantees(*options.rules, cluster(), spec_.rules);
  }
  if (spec_.services.empty() && (!spec_.lend.empty() || spec_.recall_notice)) {
    throw UsageError("--lend and --recall-notice are of services, got no --services");
  }
  options.services = spec_.services;
  if (!spec_.lend.empty()) options.lend = spec_.lend;
  if (spec_.recall_notice) options.recall_notice = *spec_.recall_notice;
  options.autoscale = spec_.autoscale;
  options.node_price = spec_.node_price;
  options.seed = spec_.seed;
  return options;
}

const ProfileInfo& World::Rules() {
  return Registry<ProfileInfo>::Global().Get(
      "profile", in_settings() ? settings().front().profile : ProfileName());
}

const std::string& World::name() { return Rules().policy_world(); }

std::unique_ptr<Policy> World::MakePolicy(const std::string& spec) {
  return allot::MakePolicy(PolicySpecUnder(Rules(), spec), FileLoader());
}

std::vector<std::string> World::FilesOfPolicy(const std::string& spec) {
  // Settings may be of several profiles: names mean other policies there, and the same files.
  return in_settings() ? allot::FilesOfPolicy(spec) : FilesOfPolicyUnder(Rules(), spec);
}

std::string World::ComparedPolicies() { return ComparedUnder(Rules()); }

bool World::elastic() {
  return spec_.elastic || (!spec_.rigid && (spec_.workload == kEmbeddedWorkload || made_by_law()));
}

void World::CheckObjectives(const Scenario& scenario) const {
  const bool objectives =
      Registry<TraceFormat>::Global().Get("trace format", read_report_.format).objectives;
  if (objectives && !spec_.late_deadlines) RequireMeetableDeadlines(scenario);
}

// By the names of the options that were given.
void World::CheckWindow(const WindowOptions& window) {
  const Workload& all = trace();
  if (all.jobs.empty()) return;
  const Seconds first = all.jobs.front().submit;
  const Seconds last = all.jobs.back().submit;
  if (!spec_.to.empty() && !spec_.from.empty() && window.to <= window.from) {
    throw UsageError("--to must lie after --from, got {} and {}", spec_.to, spec_.from);
  }
  if (!spec_.to.empty() && window.to <= first) {
    throw UsageError("--to must lie after the first submission of '{}', at {}, got {}", all.name,
                     WhenText(all, first), spec_.to);
  }
  if (!spec_.from.empty() && window.from > last && !made_by_law()) {
    throw UsageError("--from must not lie after the last submission of '{}', at {}, got {}",
                     all.name, WhenText(all, last), spec_.from);
  }
}

const Catalogue& World::catalogue() {
  if (spec_.catalogue.empty()) return Catalogue::Embedded();
  if (const auto* known = Registry<CatalogueInfo>::Global().Find(spec_.catalogue)) {
    return known->get();
  }
  if (catalogue_ == nullptr) {
    catalogue_ = std::make_unique<const Catalogue>(Catalogue::FromFile(spec_.catalogue));
  }
  return *catalogue_;
}

ElasticityOptions World::Elasticity() const {
  return {.seed = spec_.seed, .users = spec_.elastic_users};
}

WindowOptions World::Window() {
  WindowOptions window;
  window.from = spec_.from.empty() ? trace().recorded_from : ParseWhen(trace(), spec_.from);
  if (!spec_.to.empty()) window.to = ParseWhen(trace(), spec_.to);
  CheckWindow(window);
  for (const double load : spec_.loads) {
    if (!(load > 0)) throw UsageError("--load must be > 0, got {}", load);
  }
  window.span = ParseWhen(trace(), spec_.span);
  window.loads = spec_.loads;
  window.elastic = elastic();
  window.elasticity = Elasticity();
  window.catalogue = &catalogue();
  window.sim = sim();
  return window;
}

std::vector<World::Named> World::SettingScenarios() {
  std::vector<Named> scenarios;
  for (const Setting& setting : settings()) {
    for (int k = 0; k < spec_.workloads; ++k) {
      const std::uint64_t seed = spec_.seed + static_cast<std::uint64_t>(k);
      Named named{setting.episodes(seed), 0, seed};
      named.load = OfferedLoad(named.scenario->workload(), named.scenario->cluster().total().gpus);
      scenarios.push_back(std::move(named));
    }
  }
  return scenarios;
}

EpisodeSource World::Episodes(const ClusterSpec& spec, WindowOptions window) {
  if (!made_by_law()) {
    return [this, source = WindowEpisodes(trace(), spec, std::move(window))](std::uint64_t seed) {
      std::shared_ptr<const Scenario> scenario = source(seed);
      CheckObjectives(*scenario);
      return scenario;
    };
  }
  return [this, spec, window = std::move(window)](std::uint64_t seed) {
    ReadReport uncounted;  // only the first workload is reported
    const std::shared_ptr<const Workload> made = MadeByLaw(seed, &uncounted);
    return WindowEpisodes(*made, spec, window)(seed);
  };
}

WindowOptions World::EvaluationWindow() {
  WindowOptions window = Window();
  window.weekly = true;
  window.first_seed = spec_.seed;
  if (spec_.loads.size() > static_cast<std::size_t>(spec_.workloads)) {
    throw UsageError(
        "each of the {} values of --load ({}) needs a workload: --workloads must be at least {}, "
        "got {}",
        spec_.loads.size(), fmt::join(spec_.loads, ","), spec_.loads.size(), spec_.workloads);
  }
  if (spec_.loads.empty()) {
    if (spec_.workloads > 1 && !made_by_law()) {
      throw UsageError(
          "--workloads {} needs --load: without it the workload is the whole window, once",
          spec_.workloads);
    }
    window.loads = {0.0};
    window.span = made_by_law()
                      ? kLongestTime  // workloads of a law differ in length
                      : std::min(window.to, trace().jobs.back().submit + 1.0) - window.from;
  }
  return window;
}

EpisodeSource World::EvaluationEpisodes() { return Episodes(cluster(), EvaluationWindow()); }

std::vector<World::Named> World::Scenarios() {
  if (in_settings()) return SettingScenarios();
  const WindowOptions window = EvaluationWindow();
  const EpisodeSource source = Episodes(cluster(), window);
  std::vector<Named> scenarios;
  for (int k = 0; k < spec_.workloads; ++k) {
    const std::uint64_t seed = spec_.seed + static_cast<std::uint64_t>(k);
    Named named{source(seed), 0, seed};
    named.load = OfferedLoad(named.scenario->workload(), cluster().total().gpus);
    if (!made_by_law()) named.window = WindowOfSeed(trace(), window, seed);
    scenarios.push_back(std::move(named));
  }
  return scenarios;
}

std::shared_ptr<const Scenario> World::WholeRecord() {
  WindowOptions window = EvaluationWindow();
  window.from = 0;
  window.span = trace().jobs.back().submit + 1.0;
  return Episodes(cluster(), window)(spec_.seed);
}

std::vector<World::Named> World::TakeScenarios() {
  if (in_settings() || made_by_law() || spec_.workloads != 1) return Scenarios();
  const WindowOptions window = EvaluationWindow();
  if (own_trace_ == nullptr) return Scenarios();
  Named named{nullptr, 0, spec_.seed, WindowOfSeed(trace(), window, spec_.seed)};
  trace_.reset();
  named.scenario =
      WeeklyEpisode(std::move(*std::exchange(own_trace_, nullptr)), cluster(), window, spec_.seed);
  CheckObjectives(*named.scenario);
  named.load = OfferedLoad(named.scenario->workload(), cluster().total().gpus);
  return {std::move(named)};
}

EpisodeSource World::TrainingEpisodes(const ClusterSpec& spec, Seconds span,
                                      std::vector<double> loads) {
  WindowOptions window = Window();
  window.span = span;
  window.loads = std::move(loads);
  return Episodes(spec, std::move(window));
}

std::vector<double> World::LoadsOfSpans(const ClusterSpec& spec, Seconds span) {
  WindowOptions window = Window();
  window.span = span;
  return allot::LoadsOfSpans(trace(), spec, window);
}

nlohmann::ordered_json World::ToJson() {
  if (in_settings()) {
    return {{"setting", spec_.setting}, {"workloads", spec_.workloads}, {"seed", spec_.seed}};
  }
  const SimOptions options = sim();
  nlohmann::ordered_json json = {{"workload", spec_.workload},
                                 {"format", spec_.format},
                                 {"cluster", spec_.cluster},
                                 {"from", spec_.from},
                                 {"to", spec_.to},
                                 {"span", spec_.span},
                                 {"loads", spec_.loads},
                                 {"workloads", spec_.workloads},
                                 {"seed", spec_.seed},
                                 {"elastic", elastic()},
                                 {"profile", ProfileName()},
                                 {"interval_s", options.interval},
                                 {"restart_cost_s", options.restart_cost},
                                 {"decide_on_events", options.decide_on_events},
                                 {"speedup", options.speedup},
                                 {"length_estimates", options.lengths.ToString()}};
  // The others as they were given.
  const nlohmann::ordered_json given = EnvArguments(spec_);
  for (const auto& [name, value] : given.items()) {
    if (!json.contains(name)) json[name] = value;
  }
  if (options.launch_cost > 0) json["launch_cost_s"] = options.launch_cost;
  if (made_by_law()) {
    json["rate"] = spec_.rate ? nlohmann::ordered_json(*spec_.rate) : nlohmann::ordered_json();
    json["jobs"] = spec_.jobs.value_or(kLawJobs);
    json["tail"] = spec_.tail.empty() ? "0" : spec_.tail;
  }
  return json;
}

std::string World::ReadNote() const {
  return allot::ReadNote(spec_.workload, read_report_) +
         (in_settings() ? "" : ClusterNote(spec_.cluster) + TopologyNote());
}

std::string World::TopologyNote() const {
  if (spec_.topology.empty()) return "";
  ReadReport report;
  ParseTopology(spec_.topology, ClusterSpec::Parse(spec_.cluster), &report);
  std::string note;
  for (const std::string& said : TopologyNotes(report)) note += fmt::format("note: {}\n", said);
  return note;
}

std::optional<ReadReport> World::ClusterReport() const {
  std::error_code ignored;  // a text that cannot be a path is simply no file
  if (in_settings() || !std::filesystem::is_regular_file(spec_.cluster, ignored)) {
    return std::nullopt;
  }
  ReadReport report;
  ReadCluster(spec_.cluster, &report);
  return report;
}

std::string World::OverloadHint(const std::vector<Named>& scenarios) const {
  if (in_settings()) return "";
  std::vector<TypeLoad> loads;  // where one type is asked for most
  for (const Named& named : scenarios) {
    std::vector<TypeLoad> here =
        LoadByType(named.scenario->workload(), named.scenario->cluster().type_specs());
    const TypeLoad* const most = MostLoaded(here);
    const TypeLoad* const known = MostLoaded(loads);
    if (most == nullptr || most->demand <= 1) continue;
    if (known == nullptr || most->demand > known->demand) loads = std::move(here);
  }
  if (const TypeLoad* const most = MostLoaded(loads)) {
    return fmt::format(
        "note: jobs ask for {:.2f} times the GPU time that the {} GPUs of type '{}' have while "
        "jobs "
        "are submitted: their queue grows\n      (by type: {})\n",
        most->demand, most->gpus, most->type, LoadsInWords(loads));
  }
  double highest = 0;
  for (const Named& named : scenarios) highest = std::max(highest, named.load);
  if (!spec_.loads.empty() || highest < 3) return "";
  return fmt::format(
      "note: the workload offers {:.1f} times what {} can serve, most jobs will only queue;\n"
      "      --load 1.0 takes a sub-sample that fits, --cluster gives more GPUs\n",
      highest, spec_.cluster);
}

std::string World::ManyEventsHint(const std::vector<Named>& scenarios) const {
  constexpr std::int64_t kMany = 1'000'000;
  const Scenario& first = *scenarios.front().scenario;
  const std::int64_t jobs = std::ssize(first.workload().jobs);
  if (jobs < kMany || !first.options().decide_on_events) return "";
  return fmt::format(
      "note: {} jobs are decided at every arrival and completion, each of which costs time in "
      "proportion to the jobs that run; --interval 5m decides every five minutes instead\n",
      HumanCount(jobs));
}

std::string World::UselessOptionsHint(const std::vector<Named>& scenarios) const {
  if (in_settings()) return "";
  std::string hint;
  const auto none_limited = [](const Named& named) {
    return CountTimeLimits(named.scenario->workload()).limited == 0;
  };
  if (spec_.lengths == "user" && std::all_of(scenarios.begin(), scenarios.end(), none_limited)) {
    hint += fmt::format(
        "warning: --length-estimates user: no job of '{}' has a time limit, so that all jobs count "
        "as equally long\n",
        spec_.workload);
  }
  const auto no_job = [&scenarios](const auto& feels) {
    for (const Named& named : scenarios) {
      const Scenario& scenario = *named.scenario;
      for (std::size_t job = 0; job < scenario.workload().jobs.size(); ++job) {
        if (feels(scenario, static_cast<JobIndex>(job))) return false;
      }
    }
    return true;
  };
  const auto slowness = [](const Scenario& scenario, JobIndex job) {
    return !scenario.cluster().slowness()->Of(scenario.facts(job).table->slowness_class()).empty();
  };
  if (!spec_.slowness.empty() && no_job(slowness)) {
    hint += fmt::format(
        "warning: --slowness: the model of no job of '{}' has a slowness_class that '{}' names, so "
        "that every GPU is as fast as another\n",
        spec_.workload, spec_.slowness);
  }
  const auto network = [](const Scenario& scenario, JobIndex job) {
    return scenario.workload().jobs[At(job)].communication.share > 0;
  };
  if (!spec_.topology.empty() && no_job(network)) {
    hint += fmt::format(
        "warning: --topology: no job of '{}' has a comm_share, so that every place is as fast as "
        "another\n",
        spec_.workload);
  }
  const OperatorRules* const rules = scenarios.front().scenario->options().rules.get();
  if (rules == nullptr) return hint;
  for (const Guarantee& guarantee : rules->guarantees()) {
    const auto names_it = [&](const Named& named) {
      return named.scenario->workload().tenants.Find(guarantee.account) >= 0;
    };
    if (std::any_of(scenarios.begin(), scenarios.end(), names_it)) continue;
    hint += fmt::format(
        "warning: {}: no job of '{}' is of account '{}', so that its guarantee of "
        "{} GPUs has no effect\n",
        spec_.rules, spec_.workload, guarantee.account, guarantee.gpus);
  }
  return hint;
}

}  // namespace allot
