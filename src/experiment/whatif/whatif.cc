#include "experiment/whatif/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "agents/learned/agent.h"
#include "cluster/topology_text.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/strings.h"
#include "experiment/oversized.h"
#include "experiment/spec_list.h"
#include "experiment/whatif/added_nodes.h"
#include "experiment/whatif/elastic_share.h"
#include "experiment/whatif_notes.h"
#include "metrics/evaluation_notes.h"
#include "metrics/humanise.h"
#include "metrics/quantile.h"
#include "metrics/rank_correlation.h"
#include "perf/elastic.h"
#include "sim/run.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

using Kind = WhatIfScene::Kind;

// Of each job, by its place in the workload; kUnknown: it never started or ended, or nobody knows.
struct Served {
  std::vector<double> wait;
  std::vector<double> jct;
};

void Fill(const Served& served, WhatIfScene* scene) {
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    std::int64_t known = 0;
    for (const double value : values) {
      if (!std::isfinite(value)) continue;
      sum += value;
      ++known;
    }
    return known > 0 ? sum / static_cast<double>(known) : kUnknown;
  };
  std::vector<double> waits = served.wait;
  std::erase_if(waits, [](double wait) { return !std::isfinite(wait); });
  std::sort(waits.begin(), waits.end());
  const std::span<const double> sorted(waits);
  scene->jobs = static_cast<std::int64_t>(waits.size());
  scene->avg_wait_s = mean(served.wait);
  scene->p50_wait_s = Quantile(sorted, 0.5);
  scene->p95_wait_s = Quantile(sorted, 0.95);
  scene->max_wait_s = Quantile(sorted, 1.0);
  scene->avg_jct_s = mean(served.jct);
}

// How near the waits of a scene are to those of the record.
void Compare(const Served& record, const Served& served, WhatIfScene* scene) {
  std::vector<double> recorded, simulated, errors;
  for (std::size_t j = 0; j < record.wait.size(); ++j) {
    if (!std::isfinite(record.wait[j]) || !std::isfinite(served.wait[j])) continue;
    recorded.push_back(record.wait[j]);
    simulated.push_back(served.wait[j]);
    errors.push_back(std::abs(record.wait[j] - served.wait[j]));
  }
  std::sort(errors.begin(), errors.end());
  scene->wait_error_s = Quantile(std::span<const double>(errors), 0.5);
  scene->wait_rank_correlation = RankCorrelation(recorded, simulated);
}

// Collects scenes and the service of every job in them.
class WhatIfMaker {
 public:
  explicit WhatIfMaker(const WhatIfOptions& options) : options_(options) {}

  void AddRecord(const Workload& workload, GpuCount gpus) {
    Served served;
    double busy = 0;
    Seconds last = 0;
    for (const Job& job : workload.jobs) {
      const bool known = job.recorded_wait >= 0;
      served.wait.push_back(known ? job.recorded_wait : kUnknown);
      served.jct.push_back(known && job.ended() ? job.recorded_wait + job.duration : kUnknown);
      if (!known) continue;
      const Seconds ran = workload.RecordedRunTime(job);
      busy += job.gpus * ran;
      last = std::max(last, job.submit + job.recorded_wait + ran);
    }
    WhatIfScene scene;
    scene.kind = Kind::kRecorded;
    scene.title = "recorded";
    Fill(served, &scene);
    if (scene.jobs == 0) {
      result_.what_if.notes.emplace_back(
          "The trace does not tell when jobs started: what happened is not shown.");
      return;
    }
    if (scene.jobs == result_.what_if.jobs - result_.what_if.pending && last > 0) {
      const double use = busy / (gpus * (last - workload.jobs.front().submit));
      if (use <= 1) scene.gpu_utilisation = use;
    }
    Add(std::move(scene), std::move(served));
  }

  // One world: all contenders in it. `title` says what differs from the present one, "" nothing.
  Evaluation Run(World& world, const std::vector<World::Named>& scenarios,
                 const std::vector<Contender>& contenders, const std::string& title, Kind kind,
                 const std::string& folder) {
    ExperimentOptions experiment = options_.experiment;
    experiment.title = title.empty() ? "The policies on the present cluster" : title;
    experiment.out = (std::filesystem::path(options_.experiment.out) / folder).string();
    Played played = Play(world, scenarios, contenders, kind, std::move(experiment));
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const EvaluatedPolicy& policy = played.evaluation.policies[c];
      const RunSummary& summary = policy.runs.front();
      WhatIfScene scene;
      scene.kind = kind == Kind::kPolicy && c == 0 ? Kind::kPresent : kind;
      scene.policy = policy.named_spec();
      scene.name = policy.label;
      scene.title = scene.kind == Kind::kPresent ? fmt::format("now ({})", scene.name)
                                                 : scene.name + (title.empty() ? "" : ", " + title);
      scene.cluster = played.evaluation.cluster;
      scene.oracle = policy.oracle;
      scene.gpu_utilisation = summary.gpu_utilisation;
      scene.preemptions_per_job =
          static_cast<double>(summary.preemptions) / static_cast<double>(summary.jobs);
      scene.node_stops_per_job =
          static_cast<double>(summary.node_stops) / static_cast<double>(summary.jobs);
      scene.unfinished = played.unfinished[c];
      scene.more_jobs = played.more_jobs[c];
      Fill(played.served[c], &scene);
      if (kind == Kind::kPolicy && SceneOf(result_.what_if, Kind::kRecorded) != nullptr) {
        Compare(served_.front(), played.served[c], &scene);
      }
      Add(std::move(scene), std::move(played.served[c]));
    }
    result_.evaluations.push_back(
        (std::filesystem::path(options_.experiment.out) / folder).string());
    return std::move(played.evaluation);
  }

  // Means under the first policy alone, which nothing is kept of.
  WhatIfScene Means(World& world, const std::vector<Contender>& contenders, Kind kind) {
    const std::vector<Contender> first = {contenders.front()};
    ExperimentOptions experiment = options_.experiment;
    experiment.out.clear();
    const Played played = Play(world, world.Scenarios(), first, kind, experiment);
    WhatIfScene scene;
    Fill(played.served.front(), &scene);
    scene.unfinished = played.unfinished.front();
    return scene;
  }

  // Those of most GPU time first.
  std::vector<WhatIfGroup> Users(const Workload& workload) const {
    return Groups(workload, workload.users, &Job::user);
  }

  void AddGroups(const Workload& workload) {
    result_.what_if.users = Users(workload);
    result_.what_if.partitions = Groups(workload, workload.tenants, &Job::tenant);
    if (result_.what_if.loads.empty()) return;
    result_.what_if.types = Groups(workload, workload.gpu_types, &Job::gpu_types);
    for (WhatIfGroup& group : result_.what_if.types) {
      if (group.name.empty()) group.name = "any";
    }
  }

  WhatIfResult& result() { return result_; }

 private:
  // By contender.
  struct Played {
    Evaluation evaluation;
    std::vector<Served> served;
    std::vector<std::int64_t> unfinished;
    std::vector<std::int64_t> more_jobs;  // that the present cluster has no room for
  };

  Played Play(World& world, const std::vector<World::Named>& scenarios,
              const std::vector<Contender>& contenders, Kind kind, ExperimentOptions experiment) {
    const Workload& workload = scenarios.front().scenario->workload();
    if (present_.empty()) {
      for (std::size_t j = 0; j < workload.jobs.size(); ++j) present_[workload.jobs[j].id] = j;
    }
    Played played;
    played.served.resize(contenders.size());
    played.unfinished.resize(contenders.size());
    played.more_jobs.resize(contenders.size());
    for (Served& served : played.served) {
      served.wait.assign(present_.size(), kUnknown);
      served.jct.assign(present_.size(), kUnknown);
    }
    experiment.reference = contenders.front().id;
    experiment.on_run = [&](std::size_t c, std::size_t, RunOutcome&& outcome) {
      for (const JobRecord& record : outcome.records) {
        const Job& job = workload.jobs[static_cast<std::size_t>(record.job)];
        // Added nodes may have room for jobs that the present cluster has none for.
        const auto place = present_.find(job.id);
        if (place == present_.end()) {
          ++played.more_jobs[c];
          continue;
        }
        const bool ended = record.finish != kNever;
        const double jct = ended ? record.finish - record.submit : kUnknown;
        // All time without GPUs; of elastic jobs, who hold several numbers of them, to the start.
        const double wait = kind == Kind::kElastic || kind == Kind::kElasticShare
                                ? record.first_start - record.submit
                                : std::max(0.0, jct - record.gpu_seconds / job.gpus);
        // How long a job waited that the record leaves waiting, or ran that it leaves running, is
        // not known of what happened: no mean of what could have happened has it either.
        const bool waited = ended && job.outcome != Outcome::kPending;
        played.served[c].wait[place->second] = waited ? wait : kUnknown;
        played.served[c].jct[place->second] = job.ended() ? jct : kUnknown;
        played.unfinished[c] += ended ? 0 : 1;
      }
    };
    played.evaluation = RunExperiment(world, scenarios, contenders, experiment);
    return played;
  }

  void Add(WhatIfScene scene, Served served) {
    result_.what_if.scenes.push_back(std::move(scene));
    served_.push_back(std::move(served));
  }

  std::vector<WhatIfGroup> Groups(const Workload& workload, const NameTable& names,
                                  std::int32_t Job::*of) const {
    std::map<std::int32_t, std::vector<std::size_t>> members;
    for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
      members[workload.jobs[j].*of].push_back(j);
    }
    std::vector<WhatIfGroup> groups;
    if (members.empty() || (members.size() == 1 && members.begin()->first < 0)) return groups;
    for (const auto& [name, jobs] : members) {
      WhatIfGroup group;
      group.name = names[name];
      group.jobs = static_cast<std::int64_t>(jobs.size());
      for (const std::size_t j : jobs) {
        const Job& job = workload.jobs[j];
        group.gpu_hours += job.gpus * workload.RecordedRunTime(job) / 3600;
      }
      for (const Served& served : served_) {
        Served of_group;
        for (const std::size_t j : jobs) {
          of_group.wait.push_back(served.wait[j]);
          of_group.jct.push_back(served.jct[j]);
        }
        WhatIfScene scene;
        Fill(of_group, &scene);
        group.avg_wait_s.push_back(scene.avg_wait_s);
        group.avg_jct_s.push_back(scene.avg_jct_s);
      }
      groups.push_back(std::move(group));
    }
    std::stable_sort(groups.begin(), groups.end(), [](const WhatIfGroup& a, const WhatIfGroup& b) {
      return a.gpu_hours > b.gpu_hours;
    });
    return groups;
  }

  const WhatIfOptions& options_;
  WhatIfResult result_;
  std::vector<Served> served_;                            // by scene
  std::unordered_map<std::string, std::size_t> present_;  // jobs of the present cluster, by id
};

// The trained policy under the id "learned".
Contender LearnedContender(const std::string& checkpoint, const std::string& world) {
  const auto agent = std::make_shared<const Agent>(LoadAgent(checkpoint));
  const Serving serving{.world = world};
  MakeLearnedPolicy(*agent, serving);  // refuse now, not after minutes
  return {.id = "learned",
          .make = [agent, serving] { return MakeLearnedPolicy(*agent, serving); },
          .files = {checkpoint}};
}

// Some job may be resized, and its trace tells how fast it is then.
bool AnyElastic(const Workload& workload) {
  return std::any_of(workload.jobs.begin(), workload.jobs.end(),
                     [](const Job& job) { return job.model >= 0 && !job.rigid(); });
}

// The alternative of the smallest mean completion time, by its place; 0: the present policy.
std::size_t BestAlternative(const Evaluation& evaluation) {
  std::size_t best = 0;
  for (std::size_t p = 1; p < evaluation.policies.size(); ++p) {
    const EvaluatedPolicy& policy = evaluation.policies[p];
    if (policy.oracle || policy.runs.front().unfinished > 0) continue;
    const double jct = policy.runs.front().avg_jct_s;
    if (jct < evaluation.policies[best].runs.front().avg_jct_s) best = p;
  }
  return best;
}

// What the policy does; a policy with options, or a trained one, is named by its user.
void AddMeaning(const std::string& id, WhatIf* what_if) {
  const PolicyInfo* const info = Registry<PolicyInfo>::Global().Find(id);
  if (info != nullptr) what_if->policies.emplace_back(id, info->summary);
}

constexpr const char* kKeptTogether = "kept-together";

// On a cluster with a topology: the present policy, but for where it places jobs.
void AddKeptTogether(World& world, const std::string& present, std::vector<Contender>* contenders,
                     WhatIf* what_if) {
  const double assumed = world.spec().comm_share;
  const std::string how = assumed > 0
                              ? fmt::format(
                                    " (assumed: jobs of several GPUs communicate in {:.0f} % of an "
                                    "iteration)",
                                    100 * assumed)
                              : "";
  const char separator = present.find(':') == std::string::npos ? ':' : ',';
  try {
    contenders->push_back(ParseContenders(world, fmt::format("{}={}{}placement=tree", kKeptTogether,
                                                             present, separator))
                              .front());
    what_if->policies.emplace_back(
        kKeptTogether, "the present policy, with jobs close together in the network" + how);
  } catch (const Error& error) {  // it places jobs in its own way
    if (error.code() != ExitCode::kUsage) throw;
    what_if->notes.push_back(
        fmt::format("What placement alone would change is not shown: {}.", error.what()));
  }
}

// The house's strongest rules on jobs that may run on fewer or more GPUs, where speeds are known.
void AddElastic(const WhatIfOptions& options, const WorldSpec& spec, WorkloadCache* cache,
                WhatIfMaker* maker) {
  WhatIf& what_if = maker->result().what_if;
  try {
    World flexible(spec, cache);
    std::vector<Contender> rules = ParseContenders(flexible, "index,srtf:sizing=hull");
    if (!options.checkpoint.empty()) {
      rules.push_back(LearnedContender(options.checkpoint, flexible.name()));
    }
    const std::vector<World::Named> drawn = flexible.Scenarios();
    maker->Run(flexible, drawn, rules, "elastic jobs", Kind::kElastic, "elastic");
    const DrawnModels& models = drawn.front().scenario->workload().drawn;
    if (models.jobs == 0) return;
    what_if.notes.push_back(
        fmt::format("Elastic jobs: the trace does not tell how fast jobs are at other sizes. For "
                    "{} of {} a throughput profile was drawn at random, from {}: what could be "
                    "gained, not what your jobs would gain.",
                    models.jobs, what_if.jobs, models.from));
  } catch (const Error& error) {
    if (error.code() != ExitCode::kBadData) throw;
    // The rest of the page stands without it: mostly nobody measured speeds on these GPU types.
    what_if.notes.push_back(
        fmt::format("Elastic jobs are not shown: {}. --catalogue names a table with speeds on your "
                    "GPU types; --catalogue power-laws draws invented ones, alike on all types.",
                    error.what()));
  }
}

// The rule above where some users' jobs alone are elastic, those first whose jobs are worth most.
void AddElasticShares(const std::vector<double>& shares, const Workload& workload,
                      const WorldSpec& spec, WorkloadCache* cache, WhatIfMaker* maker) {
  WhatIf& what_if = maker->result().what_if;
  const auto with = [&](const std::vector<std::string>& users) {
    WorldSpec some = spec;
    some.elastic_users = users;
    return some;
  };
  what_if.elastic_first = FindElasticUsers(
      maker->Users(workload), shares.back(), [&](const std::vector<std::string>& users) {
        World world(with(users), cache);
        return maker->Means(world, ParseContenders(world, "index"), Kind::kElasticShare).avg_jct_s;
      });
  std::size_t shown = 0;
  for (const double share : shares) {
    const auto first = FirstElasticUsers(what_if.elastic_first, share);
    if (std::exchange(shown, first.size()) == first.size()) continue;  // one user has both shares
    std::vector<std::string> users;
    users.reserve(first.size());
    for (const ElasticUser& user : first) users.push_back(user.name);
    World world(with(users), cache);
    maker->Run(world, world.Scenarios(), ParseContenders(world, "index"),
               fmt::format("{} elastic ({})", HumanShare(GpuShareOf(first)),
                           Counted(std::ssize(users), "user")),
               Kind::kElasticShare, fmt::format("elastic-{:g}", 100 * share));
  }
  const double all = GpuShareOf(what_if.elastic_first);
  if (all < shares.back()) {
    what_if.notes.push_back(
        fmt::format("Of the users, the {} of most GPU time were tried: they have {} of it, less "
                    "than the {:g} % of --elastic-share.",
                    what_if.elastic_first.size(), HumanShare(all), 100 * shares.back()));
  }
}

// The world with these nodes beside its own.
WorldSpec WithNodes(const WorldSpec& spec, const ClusterSpec& cluster, const ClusterSpec& added) {
  WorldSpec larger = spec;
  larger.cluster = cluster.ToString() + "," + added.ToString();
  return larger;
}

// UsageError where nothing is known of speeds, or of users.
std::vector<double> SharesAskedFor(const WhatIfOptions& options, bool elastic,
                                   const Workload& workload) {
  if (options.elastic_share.empty()) return {};
  std::vector<double> shares = ParseElasticShares(options.elastic_share);
  if (!elastic) {
    throw UsageError(
        "--elastic-share needs speeds at other sizes: --elastic draws them, --catalogue names a "
        "file of your own, got neither beside {}",
        options.elastic_share);
  }
  if (workload.users.names().empty()) {
    throw UsageError("--elastic-share {} is by user, and the trace names none",
                     options.elastic_share);
  }
  return shares;
}

}  // namespace

WhatIfResult RunWhatIf(const WhatIfOptions& options) {
  WorkloadCache cache;
  WhatIfMaker maker(options);
  WhatIf& what_if = maker.result().what_if;
  WorldSpec spec = options.world;
  std::string fixed_sizes;
  TimeLimits limits;
  const bool elastic = [&] {
    World asked(spec, &cache);
    const Workload& trace = asked.trace();
    if (options.on_note) options.on_note(asked.ReadNote());
    fixed_sizes = FixedSizesNote(spec, trace);
    limits = asked.GoByTimeLimits();
    WorldSpec whole = spec;  // with jobs that the cluster has no room for
    whole.oversized = "error";
    what_if.most_gpus_at_once = MostGpusAtOnce(World(whole, &cache).trace());
    spec.lengths = asked.spec().lengths;
    return asked.elastic() || (!spec.rigid && AnyElastic(trace));
  }();

  // The present: jobs as they were requested.
  WorldSpec present_spec = spec;
  present_spec.elastic = false;
  present_spec.rigid = true;
  World world(present_spec, &cache);
  std::vector<Contender> contenders = ParseContenders(world, options.present);
  if (contenders.size() != 1) {
    throw UsageError("--present must be one policy, got {}: '{}'; others belong to --policies",
                     contenders.size(), options.present);
  }
  for (Contender& contender : ParseContenders(world, options.policies)) {
    if (contender.id != contenders.front().id) contenders.push_back(std::move(contender));
  }
  if (!options.checkpoint.empty()) {
    contenders.push_back(LearnedContender(options.checkpoint, world.name()));
  }
  if (!spec.topology.empty()) AddKeptTogether(world, options.present, &contenders, &what_if);
  const std::vector<World::Named> scenarios = world.Scenarios();
  if (options.on_note) {
    options.on_note(world.OverloadHint(scenarios));
    options.on_note(world.ManyEventsHint(scenarios));
    options.on_note(world.UselessOptionsHint(scenarios));
  }
  const Workload& workload = scenarios.front().scenario->workload();
  what_if.workload = world.trace().name;
  what_if.origin = workload.origin;
  what_if.jobs = static_cast<std::int64_t>(workload.jobs.size());
  what_if.running = CountOutcome(workload, Outcome::kRunning);
  what_if.pending = CountOutcome(workload, Outcome::kPending);
  what_if.gpu_hours = workload.GpuSeconds() / 3600;
  what_if.left_out = world.read_report().LargestDrops();
  what_if.span = workload.Span();
  what_if.cluster = world.cluster().ToString();
  what_if.cluster_in_words = world.cluster().InWords();
  what_if.lacking_types = world.read_report().lacking_types;
  what_if.without_room =
      DropsAs({kRoomIsLacking, kMemoryIsLacking, kNodesAreTooSmall}, world.read_report());
  what_if.without_hosts = DropsAs({kHostsAreTooSmall}, world.read_report());
  for (const Contender& contender : contenders) AddMeaning(contender.id, &what_if);
  what_if.gpus = world.cluster().total().gpus;
  what_if.load = scenarios.front().load;
  what_if.loads = LoadByType(workload, world.cluster().type_specs());
  std::string more_nodes = options.more_nodes;
  if (options.target_wait && !(*options.target_wait >= 0)) {
    throw UsageError("--target-wait must be a time of at least 0 s, got {}", *options.target_wait);
  }
  if (options.target_wait && !more_nodes.empty()) {
    throw UsageError("--target-wait searches for the number of nodes, got --more-nodes {} as well",
                     more_nodes);
  }
  if (!FilesOfTopology(spec.topology).empty() && more_nodes != "0") {
    if (options.target_wait || !more_nodes.empty()) {
      throw UsageError(
          "more nodes have no place in the file of --topology '{}': give it levels of sizes, as in "
          "leaf=16, or --more-nodes 0, got {}",
          spec.topology, options.target_wait ? "--target-wait" : "--more-nodes " + more_nodes);
    }
    more_nodes = "0";
    what_if.notes.emplace_back(
        "What more nodes would change is not shown: the file of the topology does not tell where "
        "they would lie.");
  }
  if (more_nodes != "0") AddedNodes(world.cluster(), what_if.loads, more_nodes);  // refuse now
  const std::vector<double> shares = SharesAskedFor(options, elastic, workload);
  what_if.command = options.experiment.command;
  maker.AddRecord(workload, what_if.gpus);
  const Evaluation evaluation =
      maker.Run(world, scenarios, contenders, "", Kind::kPolicy, "present");
  what_if.length_estimates = evaluation.length_estimates;
  what_if.read = evaluation.read;
  what_if.cluster_read = evaluation.cluster_read;
  what_if.node_events = evaluation.node_events;
  const std::size_t best = BestAlternative(evaluation);
  for (const EvaluatedPolicy& policy : evaluation.policies) {
    for (const auto& [name, text] : policy.runs.front().notes) {
      what_if.notes.push_back(fmt::format("{}, {}: {}.", policy.label, name, text));
    }
  }

  if (options.target_wait) {
    what_if.target =
        SearchTarget(*options.target_wait, SceneOf(what_if, Kind::kPresent)->avg_wait_s,
                     world.cluster(), what_if.loads, [&](const ClusterSpec& added) {
                       World larger(WithNodes(present_spec, world.cluster(), added), &cache);
                       const WhatIfScene means = maker.Means(
                           larger, ParseContenders(larger, options.present), Kind::kNodes);
                       return means.unfinished > 0 ? kNever : means.avg_wait_s;
                     });
    more_nodes = fmt::format("{}", what_if.target->nodes.value_or(what_if.target->most_tried));
  }
  if (more_nodes != "0") {
    const ClusterSpec added = AddedNodes(world.cluster(), what_if.loads, more_nodes);
    what_if.added_nodes = added.InWords();
    World with_more(WithNodes(present_spec, world.cluster(), added), &cache);
    std::vector<Contender> two = ParseContenders(with_more, options.present);
    if (best > 0) {
      const Contender& chosen = contenders[best];
      two.push_back(chosen.id == "learned" ? chosen
                                           : ParseContenders(with_more, chosen.text()).front());
    }
    const bool like_present = more_nodes.empty() || ParseInteger(more_nodes);
    const std::size_t count = added.nodes().size();
    const std::string unwanted = UnwantedTypes(with_more.trace(), added);
    if (!unwanted.empty()) what_if.notes.push_back(unwanted);
    maker.Run(with_more, with_more.Scenarios(), two,
              like_present ? fmt::format("{} more node{}", count, count == 1 ? "" : "s")
                           : more_nodes + " more",
              Kind::kNodes, "more-nodes");
  }
  if (!fixed_sizes.empty()) what_if.notes.push_back(fixed_sizes);
  if (elastic) {
    AddElastic(options, spec, &cache, &maker);
    if (!shares.empty()) AddElasticShares(shares, workload, spec, &cache, &maker);
  } else {
    what_if.notes.emplace_back(
        "Elastic jobs are not shown: the trace does not tell how fast jobs are at other sizes. "
        "--elastic draws their speeds at random from measured ones, --catalogue names a file of "
        "your own.");
  }
  if (std::string note = TimeLimitNote(limits, what_if.length_estimates); !note.empty()) {
    what_if.notes.push_back(std::move(note));
  }
  what_if.notes.emplace_back(
      "Partitions, limits of users and priorities are simulated by the policy slurm alone "
      "(--present slurm:conf=FILE): under others every job may use every node whose GPU type it "
      "accepts, and may get its GPUs on several nodes, also where it ran on one.");
  what_if.notes.push_back(RecordEdgesNote(workload));
  for (std::string& left_out : LeftOutNotes(what_if.read, what_if.cluster_read)) {
    what_if.notes.push_back(std::move(left_out));
  }
  maker.AddGroups(workload);
  return std::move(maker.result());
}

}  // namespace allot
