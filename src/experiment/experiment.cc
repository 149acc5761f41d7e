#include "experiment/experiment.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/counted.h"
#include "core/error.h"
#include "core/file.h"
#include "core/inputs.h"
#include "core/json_text.h"
#include "core/labelled_spec.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "core/version.h"
#include "core/writable.h"
#include "episode_log/episode_log.h"
#include "experiment/choice_policy.h"
#include "experiment/env_spec.h"
#include "experiment/node_events_text.h"
#include "experiment/sources.h"
#include "experiment/spec_list.h"
#include "experiment/whatif_notes.h"
#include "experiment/world_options.h"
#include "metrics/comparison.h"
#include "metrics/run_directory.h"
#include "metrics/service_table.h"
#include "sim/alone_times.h"
#include "sim/even_durations.h"
#include "sim/lower_bound.h"
#include "sim/run.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

// Beside the results, for who wants to repeat them: version, every option of the world, and the
// content of all files that these and the policies name.
void WriteOrigin(World& world, const std::vector<Contender>& contenders,
                 const std::string& folder) {
  Inputs inputs;
  AddInputs(FilesOfWorld(world.spec()), &inputs);
  for (const Contender& contender : contenders) AddInputs(contender.files, &inputs);
  const nlohmann::ordered_json origin = {
      {"version", Version()}, {"world", world.ToJson()}, {"inputs", inputs}};
  WriteTextFile(std::filesystem::path(folder) / "origin.json", JsonText(origin) + "\n");
}

// With the words of the first run.
void RefuseIfNothingFinished(const Evaluation& evaluation) {
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    for (const RunSummary& run : policy.runs) {
      if (!run.did_not_finish) return;
    }
  }
  throw RunError("{}", *evaluation.policies.front().runs.front().did_not_finish);
}

// How far a run is, so that people see which one takes long: "las on trace: day 12.5 of 38.1, 512
// jobs unfinished". The last day is that of the last submission.
std::string ProgressNote(const std::string& policy, const Workload& workload,
                         const Observation& now) {
  constexpr Seconds kDay = 86400;
  return fmt::format("{} on {}: day {:.1f} of {:.1f}, {} unfinished", policy, workload.name,
                     now.now / kDay, workload.jobs.back().submit / kDay,
                     Counted(now.rows(), "job"));
}

}  // namespace

std::vector<Contender> ParseContenders(World& world, const std::string& text) {
  std::vector<Contender> contenders;
  for (const std::string& part : SplitSpecs(text)) {
    const auto [label, spec] = ReadLabel(part);
    for (const Contender& other : contenders) {
      if (other.id == label) throw UsageError("policy '{}' is named twice", label);
      // Results and logs are kept by folder name.
      const std::string dataset = EpisodeLog::DatasetId(label);  // coarser than FolderName
      if (EpisodeLog::DatasetId(other.id) == dataset) {
        throw UsageError("policies '{}' and '{}' would share the folder '{}': run them apart",
                         other.id, label, dataset);
      }
    }
    if (label != spec && Registry<PolicyInfo>::Global().Find(label) != nullptr) {
      throw UsageError("a name for a policy must not be that of another policy, got '{}' in '{}'",
                       label, part);
    }
    world.MakePolicy(spec);  // refuse now, not after minutes
    Contender& contender = contenders.emplace_back();
    contender.id = label;
    contender.make = [&world, made = spec] { return world.MakePolicy(made); };
    contender.files = world.FilesOfPolicy(spec);
    if (label != spec) contender.spec = spec;
  }
  return contenders;
}

std::string ReferenceOf(const std::vector<Contender>& contenders,
                        const ExperimentOptions& options) {
  std::vector<std::string> ids;
  ids.reserve(contenders.size());
  for (const Contender& contender : contenders) ids.push_back(contender.id);
  if (options.reference.empty()) return ids.front();
  if (std::find(ids.begin(), ids.end(), options.reference) == ids.end()) {
    throw UsageError("the reference must be one of the policies, '{}' is not{}", options.reference,
                     DidYouMean(options.reference, ids));
  }
  return options.reference;
}

LogSteps LogStepsOf(const std::string& text) {
  if (text == "policy") return LogSteps::kPolicy;
  if (text == "environment") return LogSteps::kEnvironment;
  throw UsageError("--log-steps must be policy or environment, got '{}'{}", text,
                   DidYouMean(text, {"policy", "environment"}));
}

Evaluation RunExperiment(World& world, const std::vector<World::Named>& scenarios,
                         const std::vector<Contender>& contenders,
                         const ExperimentOptions& options) {
  const bool as_choices = options.log_steps == LogSteps::kEnvironment;
  if (as_choices && options.log_root.empty()) {
    throw UsageError("--log-steps environment needs --log, which says where the log is written");
  }
  if (!options.log_root.empty()) RequireWritable(options.log_root);
  Evaluation evaluation;
  evaluation.title = options.title;
  evaluation.training_overlap = options.training_overlap;
  evaluation.command = options.command;
  evaluation.as_choices = as_choices;
  const Scenario& first = *scenarios.front().scenario;
  evaluation.cluster = first.cluster().ToString();
  if (const Topology* const tree = first.cluster().topology()) {
    evaluation.topology = tree->ToString();
  }
  const SimOptions& sim = first.options();
  evaluation.length_estimates = sim.lengths.ToString();
  evaluation.beliefs = sim.beliefs;
  evaluation.progress = sim.progress;
  std::vector<LendingFigures> lending;
  for (const World::Named& named : scenarios) {
    if (const auto figures = named.scenario->lending_figures()) lending.push_back(*figures);
  }
  const std::string lent = LendingInWords(sim, lending);
  evaluation.node_events = NodeEventsInWords(sim);
  if (!lent.empty()) {
    evaluation.node_events += (evaluation.node_events.empty() ? "" : " ") + lent;
  }
  evaluation.autoscale = sim.autoscale;
  evaluation.restart_cost_s = sim.restart_cost;
  evaluation.launch_cost_s = sim.launch_cost;
  evaluation.interval_s = sim.interval;
  evaluation.decide_on_events = sim.decide_on_events;
  if (!world.made_by_law() && !world.in_settings())
    evaluation.read = nlohmann::json(world.read_report());
  if (const auto report = world.ClusterReport()) {
    evaluation.cluster_read = nlohmann::json(*report);
  }
  evaluation.reference = ReferenceOf(contenders, options);
  for (const World::Named& named : scenarios) {
    const Workload& workload = named.scenario->workload();
    evaluation.workloads.push_back({workload.name, static_cast<std::int64_t>(workload.jobs.size()),
                                    named.load, named.seed, workload.drawn});
    evaluation.workloads.back().fixed_sizes = named.scenario->fixed_sizes();
    // No completion time is known of jobs that had not ended with the trace, so none bounds them.
    if (options.bounds && !workload.recorded_until) {
      evaluation.workloads.back().jct_bound_s = MeanJctBound(*named.scenario).mean_jct;
    }
    EvaluatedWorkload& evaluated = evaluation.workloads.back();
    evaluated.window = named.window;
    evaluated.running = CountOutcome(workload, Outcome::kRunning);
    evaluated.pending = CountOutcome(workload, Outcome::kPending);
    evaluated.limited = CountTimeLimits(workload).limited;
  }
  std::vector<std::string> ids;
  for (const Contender& contender : contenders) {
    if (std::find(ids.begin(), ids.end(), contender.id) != ids.end()) {
      throw UsageError("policy '{}' is named twice", contender.id);
    }
    ids.push_back(contender.id);
  }
  const std::vector<std::string> labels = NamesForTables(ids);
  for (const Contender& contender : contenders) {
    EvaluatedPolicy policy;
    policy.id = contender.id;
    policy.label = labels[evaluation.policies.size()];
    if (contender.spec != contender.id) policy.spec = contender.spec;
    const std::unique_ptr<Policy> made = contender.make();
    policy.oracle = IsOracle(*made, *scenarios.front().scenario);
    policy.uses_lengths = made->info().needs_lengths;
    policy.runs.resize(scenarios.size());
    evaluation.policies.push_back(std::move(policy));
  }

  if (!options.out.empty() && !options.single_run) RemoveEvaluation(options.out);
  const std::size_t total = scenarios.size() * contenders.size();
  Progress progress("simulating", static_cast<std::int64_t>(total), !options.show_progress);
  progress.Update(0, fmt::format("{}, {}", Counted(std::ssize(scenarios), "workload"),
                                 Counted(std::ssize(contenders), "policy")));
  const bool keeps_notes = !options.out.empty() || options.on_run != nullptr;
  std::mutex mutex;
  std::int64_t done = 0;
  const auto run = [&](std::size_t p, std::size_t w, EpisodeLog* log) {
    const Scenario& scenario = *scenarios[w].scenario;
    std::unique_ptr<Policy> policy = contenders[p].make();
    if (as_choices) policy = std::make_unique<ChoicePolicy>(std::move(policy), StepWindow{});
    const bool several_types = scenario.cluster().types().size() > 1;
    RunOptions run_options = {.keep_unfinished = options.keep_unfinished,
                              .note_allocations = keeps_notes || several_types};
    if (options.show_progress) {
      run_options.on_second = [&, p](const Observation& now) {
        const std::string note = ProgressNote(contenders[p].id, scenario.workload(), now);
        const std::lock_guard lock(mutex);
        progress.Update(done, note);
      };
    }
    RunOutcome outcome;
    if (log == nullptr) {
      outcome = RunPolicy(scenario, *policy, {}, {}, run_options);
    } else {
      DecisionListener* const listeners[] = {log->BeginEpisode(scenario, scenarios[w].seed)};
      outcome = RunPolicy(
          scenario, *policy, listeners,
          [log](const SimulatedCluster& cluster) { log->Attach(cluster); }, run_options);
      if (!outcome.did_not_finish) log->EndEpisode(outcome.records);
    }
    const std::string& id = contenders[p].id;
    RunSummary& summary = evaluation.policies[p].runs[w];
    const std::vector<Seconds> even_durations = EvenDurations(scenario);
    AloneTimes alone(scenario);
    summary =
        Summarise({.policy = id,
                   .oracle = evaluation.policies[p].oracle,
                   .gpus = scenario.cluster().total().gpus,
                   .records = outcome.records,
                   .timeline = outcome.timeline,
                   .lost = outcome.lost,
                   .starts = outcome.starts,
                   .lending = scenario.lending_figures(),
                   .did_not_finish = outcome.did_not_finish,
                   .decisions = outcome.drive.decisions,
                   .decision_us = outcome.drive.decision_us,
                   .cpu_s = outcome.cpu_s,
                   .wall_s = outcome.wall_s,
                   .node_price = scenario.options().node_price,
                   .workload = &scenario.workload(),
                   .even_durations = even_durations,
                   .alone = [&alone](JobIndex job, double gpus) { return alone.Of(job, gpus); },
                   .notes = policy->notes()});
    summary.types =
        UseByType(scenario.cluster(), scenario.workload(), outcome.records, outcome.notes);
    if (!options.out.empty()) {
      std::filesystem::path folder(options.out);
      if (!options.single_run) {
        if (scenarios.size() > 1) folder /= FolderName(evaluation.workloads[w].name);
        folder /= FolderName(id);
      }
      WriteRunDirectory(folder, summary, outcome.records, TracedJobs(scenario.workload()),
                        outcome.timeline, outcome.notes);
    }
    const std::lock_guard lock(mutex);
    if (options.on_run) options.on_run(p, w, std::move(outcome));
    progress.Update(++done, fmt::format("{} on {}", id, scenario.workload().name));
  };
  if (options.log_root.empty()) {
    // People name the policy that they have first and the elaborate ones last. The last one, which
    // is the most expensive mostly, begins before all others, so that no thread simulates it alone.
    const std::size_t n = contenders.size();
    ParallelFor(total, options.threads,
                [&](std::size_t i) { run((i % n + n - 1) % n, i / n, nullptr); });
  } else {
    const std::string sources = SourcesOf(world).dump();
    // Several settings are several environments.
    const bool one = !world.in_settings() || world.settings().size() == 1;
    const std::string env_spec = one ? GymEnvSpec(world.spec(), {}).dump() : "";
    // A data set is written by one thread: one task per policy.
    ParallelFor(contenders.size(), options.threads, [&](std::size_t p) {
      EpisodeLog log({.root = options.log_root,
                      .policy = contenders[p].id,
                      .command = options.command,
                      .sources = sources,
                      .env_spec = env_spec});
      for (std::size_t w = 0; w < scenarios.size(); ++w) run(p, w, &log);
      const std::vector<RunSummary>& runs = evaluation.policies[p].runs;
      if (!std::ranges::all_of(
              runs, [](const RunSummary& summary) { return summary.did_not_finish.has_value(); }))
        log.Close();
    });
  }
  RefuseIfNothingFinished(evaluation);
  if (!options.out.empty()) {
    WriteOrigin(world, contenders, options.out);
    if (!options.single_run) WriteEvaluation(options.out, evaluation);
  }
  return evaluation;
}

}  // namespace allot
