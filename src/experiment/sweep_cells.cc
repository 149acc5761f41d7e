#include "experiment/sweep_cells.h"

#include <algorithm>

#include "core/error.h"
#include "core/labelled_spec.h"
#include "experiment/world_options.h"
#include "metrics/sweep_cell.h"
#include "perf/elastic.h"
#include "sim/alone_times.h"
#include "sim/even_durations.h"
#include "sim/profile.h"
#include "sim/run.h"
#include "sweep/limits.h"
#include "sweep/window.h"

namespace allot {
namespace {

// After the last arrival of a law, a window would lack the competition of a steady state. So the
// workload is made longer, which does not change the earlier arrivals.
constexpr Seconds kShortestTail = 1000 * 3600;
constexpr Seconds kLongestTail = 64000 * 3600;

}  // namespace

WorldOptions SweepableOptions() {
  WorldOptions names;
  for (const WorldOption& option : WorldOptionTable()) {
    const std::string name = option.name;
    // Factors of every sweep; each seed also is a separate workload.
    const bool elsewhere = name == "cluster" || name == "load" || name == "rate" ||
                           name == "seed" || name == "workloads";
    if (!elsewhere) names.push_back(name);
  }
  return names;
}

Inputs SweepInputs(const SweepDefinition& definition) {
  std::set<std::map<std::string, std::string>> worlds;
  std::set<std::pair<std::string, std::string>> policies;  // profile and spec
  Inputs inputs;
  for (const CellValues& cell : CellsOf(definition)) {
    const auto options = WorldOptionsOf(definition, cell);
    if (worlds.insert(options).second) AddInputs(FilesOfWorld(WorldFromTexts(options)), &inputs);
    const auto profile = options.find("profile");
    const auto [policy, is_new] =
        policies.emplace(profile == options.end() ? kDefaultProfile : profile->second,
                         PolicySpecOf(definition, cell));
    if (!is_new) continue;
    const auto& rules = Registry<ProfileInfo>::Global().Get("profile", policy->first);
    AddInputs(FilesOfPolicyUnder(rules, policy->second), &inputs);
  }
  return inputs;
}

SweepCells::SweepCells(const SweepDefinition& definition, std::size_t kept)
    : definition_(definition), kept_(kept) {}

std::unique_ptr<World> SweepCells::MakeWorld(const std::map<std::string, std::string>& options) {
  return std::make_unique<World>(WorldFromTexts(options), &traces_);
}

void SweepCells::CheckAll() {
  std::map<std::string, std::string> labels;  // of policies, by label
  for (const SweepFactor& factor : definition_.factors) {
    if (factor.name != kPolicyFactor) continue;
    for (const std::string& text : factor.values) {
      const auto [known, is_new] = labels.emplace(ReadLabel(text).label, text);
      if (is_new) continue;
      throw UsageError("policies of a sweep have different names, got '{}' and '{}'", known->second,
                       text);
    }
  }
  std::set<std::map<std::string, std::string>> worlds;
  std::set<std::pair<std::string, std::string>> policies;  // profile and spec
  for (const CellValues& cell : CellsOf(definition_)) {
    const auto options = WorldOptionsOf(definition_, cell);
    const auto profile = options.find("profile");
    const std::string spec = PolicySpecOf(definition_, cell);
    const bool new_policy =
        policies.emplace(profile == options.end() ? "" : profile->second, spec).second;
    if (!worlds.insert(options).second && !new_policy) continue;
    const std::unique_ptr<World> world = MakeWorld(options);
    world->cluster();
    const SimOptions sim = world->sim();
    if (!world->in_settings() && !sim.decide_on_events) intervals_.insert(sim.interval);
    if (new_policy) world->MakePolicy(spec);
  }
  // A missing window of the first workload is reported before the folder is created.
  if (definition_.window.empty()) return;
  const auto options = WorldOptionsOf(definition_, CellsOf(definition_).front());
  ResolveWindow(definition_.window, Get(options)->scenarios.front().scenario->workload());
}

std::shared_ptr<SweepCells::Entry> SweepCells::Find(
    const std::map<std::string, std::string>& options) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const std::shared_ptr<Entry>& entry) { return entry->options == options; });
  std::shared_ptr<Entry> entry;
  if (found != entries_.end()) {
    entry = *found;
    entries_.erase(found);
  } else {
    entry = std::make_shared<Entry>();
    entry->options = options;
    if (entries_.size() >= kept_) entries_.pop_back();
  }
  entries_.push_front(entry);
  return entry;
}

std::shared_ptr<SweepCells::Entry> SweepCells::Get(
    const std::map<std::string, std::string>& options) {
  std::shared_ptr<Entry> entry = Find(options);
  const std::lock_guard lock(entry->mutex);  // only cells with the same scenario wait
  if (entry->world == nullptr) {
    std::unique_ptr<World> world = MakeWorld(entry->options);
    entry->scenarios = world->Scenarios();
    entry->world = std::move(world);
    const Scenario& first = *entry->scenarios.front().scenario;
    const std::lock_guard noting(mutex_);
    if (first.fixed_sizes() > most_fixed_) {
      most_fixed_ = first.fixed_sizes();
      fixed_sizes_ =
          FixedSizesInWords(most_fixed_, static_cast<std::int64_t>(first.workload().jobs.size()));
    }
  }
  return entry;
}

SweepCell SweepCells::Run(const CellValues& values) {
  std::map<std::string, std::string> options = WorldOptionsOf(definition_, values);
  while (true) {
    const std::shared_ptr<Entry> entry = Get(options);
    const Scenario& scenario = *entry->scenarios.front().scenario;
    SweepCell cell = RunIn(*entry, PolicySpecOf(definition_, values));
    const Seconds last_arrival = scenario.workload().jobs.back().submit;
    if (definition_.window.empty() || !entry->world->arrivals_continue() ||
        cell.end_s <= last_arrival) {
      return cell;
    }
    const Seconds tail = std::max(kShortestTail, 2 * entry->world->tail());
    if (tail > kLongestTail) {
      throw RunError(
          "arrivals must continue until the last job of the window has ended, got the last of {} "
          "arrivals "
          "at {} s and the end at {} s; --cutoff ends such a cell",
          scenario.workload().jobs.size(), last_arrival, cell.end_s);
    }
    options["tail"] = fmt::format("{}", tail);
  }
}

SweepCell SweepCells::RunIn(const Entry& entry, const std::string& spec) const {
  const World::Named& named = entry.scenarios.front();
  const Scenario& scenario = *named.scenario;
  const std::unique_ptr<Policy> policy = entry.world->MakePolicy(spec);
  RunOptions options;
  options.tracked = ResolveWindow(definition_.window, scenario.workload());
  options.until = LimitsOf(definition_).cutoff;
  options.time_decisions = false;
  options.note_allocations = scenario.cluster().types().size() > 1;
  const RunOutcome outcome = RunPolicy(scenario, *policy, {}, {}, options);
  SweepCell cell;
  cell.workload = scenario.workload().name;
  cell.load = named.load;
  cell.window = named.window;
  cell.end_s = outcome.last_decision;
  const std::vector<Seconds> even_durations = EvenDurations(scenario);
  AloneTimes alone(scenario);
  const RunFacts facts = {
      .policy = policy->info().id,
      .oracle = IsOracle(*policy, scenario),
      .gpus = scenario.cluster().total().gpus,
      .records = outcome.records,
      .timeline = outcome.timeline,
      .lost = outcome.lost,
      .lending = scenario.lending_figures(),
      .tracked = options.tracked,
      .decisions = outcome.drive.decisions,
      .decision_us = {},
      .cpu_s = outcome.cpu_s,
      .wall_s = outcome.wall_s,
      .node_price = scenario.options().node_price,
      .workload = &scenario.workload(),
      .even_durations = even_durations,
      .alone = [&alone](JobIndex job, double gpus) { return alone.Of(job, gpus); }};
  cell.summary = Summarise(facts);
  cell.summary.types =
      UseByType(scenario.cluster(), scenario.workload(), outcome.records, outcome.notes);
  cell.cut_off = cell.summary.unfinished > 0 && options.until < kNever;
  AddDistributions(facts, &cell);
  return cell;
}

}  // namespace allot
