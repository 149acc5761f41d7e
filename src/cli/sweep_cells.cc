#include "cli/sweep_cells.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/error.h"
#include "sim/run.h"
#include "sweep/window.h"

namespace allot {
namespace {

// Beyond the last arrival of a law a window has no competition that a steady state would have.
void CheckCompetition(const World& world, const Workload& workload, Seconds end) {
  if (!world.made_by_law() || end <= workload.jobs.back().submit) return;
  throw UsageError(
      "arrivals must go on until the window's last job has ended, got the last of {} arrivals at "
      "{} "
      "s and the end at {} s; a longer --tail helps",
      workload.jobs.size(), workload.jobs.back().submit, end);
}

}  // namespace

WorldOptions SweepableOptions() {
  World world;
  CLI::App app;
  world.Declare(app);
  WorldOptions names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      // Factors of every sweep; and each seed is a workload of its own.
      const bool elsewhere = name == "help" || name == "cluster" || name == "load" ||
                             name == "rate" || name == "seed" || name == "workloads";
      if (!elsewhere) names.push_back(name);
    }
  }
  return names;
}

SweepCells::SweepCells(const SweepDefinition& definition, std::size_t kept)
    : definition_(definition), kept_(kept) {}

std::unique_ptr<World> SweepCells::MakeWorld(const std::map<std::string, std::string>& options) {
  auto world = std::make_unique<World>();
  CLI::App app;
  world->Declare(app);
  std::vector<std::string> arguments;
  for (const auto& [name, value] : options)
    arguments.push_back(fmt::format("--{}={}", name, value));
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    throw UsageError("{}", error.what());
  }
  world->ShareTraces(&traces_);
  return world;
}

void SweepCells::CheckAll() {
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
    world->sim();
    if (new_policy) world->MakePolicy(spec);
  }
}

std::shared_ptr<SweepCells::Entry> SweepCells::Get(
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

SweepCell SweepCells::Run(const CellValues& values) {
  const std::shared_ptr<Entry> entry = Get(WorldOptionsOf(definition_, values));
  {
    const std::lock_guard lock(entry->mutex);
    if (entry->world == nullptr) {
      std::unique_ptr<World> world = MakeWorld(entry->options);
      entry->scenarios = world->Scenarios();
      entry->world = std::move(world);
    }
  }
  const World::Named& named = entry->scenarios.front();
  const Scenario& scenario = *named.scenario;
  const std::unique_ptr<Policy> policy =
      entry->world->MakePolicy(PolicySpecOf(definition_, values));
  RunOptions options;
  options.tracked = ResolveWindow(definition_.window, scenario.workload());
  options.time_decisions = false;
  const RunOutcome outcome = RunPolicy(scenario, *policy, {}, {}, options);
  SweepCell cell;
  cell.workload = scenario.workload().name;
  cell.load = named.load;
  cell.end_s = outcome.timeline.back().time;
  if (options.tracked) CheckCompetition(*entry->world, scenario.workload(), cell.end_s);
  cell.summary = Summarise({.policy = policy->info().id,
                            .oracle = IsOracle(*policy, scenario),
                            .gpus = scenario.cluster().total().gpus,
                            .records = outcome.records,
                            .timeline = outcome.timeline,
                            .tracked = options.tracked,
                            .decisions = outcome.drive.decisions,
                            .decision_us = {},
                            .cpu_s = outcome.cpu_s,
                            .wall_s = outcome.wall_s});
  return cell;
}

}  // namespace allot
