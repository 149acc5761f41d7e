#include "episode_log/episode_log.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "cluster/event_finder.h"
#include "cluster/gpu_slowness.h"
#include "cluster/topology_text.h"
#include "cluster/validate.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/interrupt.h"
#include "core/version.h"
#include "episode_log/episode_columns.h"
#include "episode_log/step_columns.h"
#include "features/encoder.h"
#include "features/feature_table.h"
#include "metrics/run_directory.h"
#include "record/minari_reader.h"
#include "record/spaces.h"
#include "sim/run.h"

namespace allot {
namespace {

constexpr const char* kEstimates = "workload/estimate";
constexpr const char* kJobMaskMeaning = "1: there is a job in this row";
constexpr const char* kActionMeaning =
    "by slot: 0: the job gets nothing; k: it gets configuration k - 1 of its table";

}  // namespace

struct EpisodeLog::Impl : public DecisionListener {
  explicit Impl(EpisodeLog::Options given)
      : options(std::move(given)),
        window(options.window),
        step(window),
        writer(options.root,
               options.dataset.empty() ? EpisodeLog::DatasetId(options.policy) : options.dataset,
               Spec(options)) {}

  static MinariSpec Spec(const EpisodeLog::Options& options) {
    const std::size_t w = options.window.jobs;
    const auto width = static_cast<std::int64_t>(options.window.configurations);
    MinariSpec spec;
    spec.observation_space =
        DictSpace({{"jobs", BoxSpace({w, kJobFeatures}, -kFeatureBound, kFeatureBound)},
                   {"context", BoxSpace({kContextFeatures}, -1000, 1000)},
                   {"job_mask", BoxSpace({w}, 0, 1, "uint8")}});
    spec.action_space = MultiDiscreteSpace(std::vector<std::int64_t>(w, width + 1));
    if (!options.env_spec.empty()) {
      spec.env_spec = nlohmann::json::parse(options.env_spec);
      spec.requirements = {"allot-cluster"};
    }
    spec.algorithm_name = options.policy;
    spec.author = {"allot"};
    spec.description = "Decisions of a scheduling policy on a GPU cluster";
    spec.attributes = {{"creator", "allot " + Version()},
                       {"command", options.command},
                       {"feature_version", std::int64_t{kFeatureVersion}},
                       {"policy", options.policy},
                       {"max_jobs", static_cast<std::int64_t>(w)},
                       {"max_configurations", width},
                       {"features_jobs", FeatureTableJson(JobFeatureTable())},
                       {"features_context", FeatureTableJson(ContextFeatureTable())},
                       {"features_job_mask", kJobMaskMeaning},
                       {"action_meaning", kActionMeaning}};
    if (!options.sources.empty()) spec.attributes["sources"] = options.sources;
    return spec;
  }

  void OnDecision(const Observation& o, const Allocation& allocation) override {
    if (live) {
      seen.Add(o);
    } else if (!decisions.times.empty()) {
      rewards.push_back(-cluster->last_step().job_seconds);
    }
    decisions.times.push_back(o.now);
    decisions.allocations.push_back(allocation);
    step.Observe(o);
    AppendObservation(o.now, o.rows());
    step.Act(o, allocation);
    granted.insert(granted.end(), step.action.begin(), step.action.end());
    left_out += step.left_out;
  }

  void AppendObservation(Seconds now, std::int32_t rows) {
    jobs.insert(jobs.end(), step.jobs.begin(), step.jobs.end());
    context.insert(context.end(), step.context.begin(), step.context.end());
    job_mask.insert(job_mask.end(), step.job_mask.begin(), step.job_mask.end());
    slot_jobs.insert(slot_jobs.end(), step.job.begin(), step.job.end());
    legal.insert(legal.end(), step.legal.begin(), step.legal.end());
    elapsed.push_back(times.empty() ? 0 : now - times.back());
    times.push_back(now);
    active.push_back(rows);
  }

  void Begin() {
    decisions = {};
    seen = {};
    for (auto* column : {&jobs, &context}) column->clear();
    for (auto* column : {&job_mask, &legal}) column->clear();
    for (auto* column : {&rewards, &times, &elapsed}) column->clear();
    granted.clear();
    slot_jobs.clear();
    left_out = 0;
    active.clear();
    step.OnEpisodeStart();
  }

  // Of the run, `rewards` being complete; `finish` by job.
  EpisodeData Episode(const Scenario& of, Seconds end, std::vector<double> finish) {
    const std::size_t steps = decisions.times.size();
    step.ObserveEnd(of.cluster(), of.options().interval, end);
    AppendObservation(end, 0);

    EpisodeData episode;
    episode.seed = static_cast<std::int64_t>(seed);
    episode.observations["jobs"] =
        MakeArray({steps + 1, window.jobs, kJobFeatures}, std::move(jobs), "1");
    episode.observations["context"] =
        MakeArray({steps + 1, kContextFeatures}, std::move(context), "1");
    episode.observations["job_mask"] =
        MakeArray({steps + 1, window.jobs}, std::move(job_mask), "1");
    episode.actions[""] = MakeArray({steps, window.jobs}, std::move(granted), "1");
    episode.attributes[kLeftOut] = left_out;
    episode.rewards = std::move(rewards);
    episode.terminations.assign(steps, false);
    episode.truncations.assign(steps, false);
    episode.infos["time"] = MakeColumn(std::move(times), "s");
    episode.infos["dt"] = MakeColumn(std::move(elapsed), "s");
    episode.infos["active_jobs"] = MakeColumn(std::move(active));
    episode.infos["job"] = MakeArray({steps + 1, window.jobs}, std::move(slot_jobs));
    episode.infos["legal"] =
        MakeArray({steps + 1, window.jobs, window.legal_bytes()}, std::move(legal));
    WorkloadColumns(of.workload(), &episode.extras);
    if (!live) {  // live runs store their observations in seen/
      std::vector<double> estimates;
      for (JobIndex job = 0; At(job) < of.workload().jobs.size(); ++job) {
        estimates.push_back(of.facts(job).estimate);
      }
      episode.extras[kEstimates] = MakeColumn(std::move(estimates));
    }
    DecisionColumns(decisions, &episode.extras);
    episode.extras["result/finish"] = MakeColumn(std::move(finish), "s");
    episode.extra_attributes["workload"] = {{"name", of.workload().name},
                                            {"origin", of.workload().origin},
                                            {"cluster", of.cluster().ToString()},
                                            {"sim", SimJson(of.options())}};
    if (const Topology* const topology = of.cluster().topology()) {
      episode.extra_attributes["workload"]["topology"] = topology->ToString();
    }
    if (const GpuSlowness* const slowness = of.cluster().slowness()) {
      episode.extra_attributes["workload"]["slowness"] = slowness->ToCsv();
    }
    if (!of.profiles_csv().empty()) {
      episode.extra_attributes["workload"]["profiles"] = of.profiles_csv();
    } else if (!of.catalogue_id().empty()) {
      episode.extra_attributes["workload"]["catalogue"] = of.catalogue_id();
    }
    episode.extra_attributes["allocation"] = {{"policy", options.policy}};
    return episode;
  }

  EpisodeLog::Options options;
  StepWindow window;
  StepColumns step;
  MinariWriter writer;

  // The episode under way.
  bool live = false;
  const Scenario* scenario = nullptr;
  const SimulatedCluster* cluster = nullptr;
  std::uint64_t seed = 0;
  DecisionLog decisions;
  ObservationLog seen;
  std::vector<float> jobs, context;
  std::vector<std::int64_t> granted;
  std::vector<std::uint8_t> job_mask, legal;
  std::vector<double> rewards, times, elapsed;
  std::vector<std::int32_t> active, slot_jobs;
  std::int64_t left_out = 0;
};

EpisodeLog::EpisodeLog(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
EpisodeLog::~EpisodeLog() = default;

std::string EpisodeLog::DatasetId(const std::string& policy) {
  std::string name;
  for (const char c : FolderName(policy))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return "cluster/" + name + "-v0";
}

DecisionListener* EpisodeLog::BeginEpisode(const Scenario& scenario, std::uint64_t seed) {
  Impl& m = *impl_;
  m.live = false;
  m.scenario = &scenario;
  m.seed = seed;
  m.Begin();
  return &m;
}

void EpisodeLog::Attach(const SimulatedCluster& cluster) { impl_->cluster = &cluster; }

void EpisodeLog::EndEpisode(const std::vector<JobRecord>& records) {
  Impl& m = *impl_;
  std::vector<double> finish;
  Seconds last = m.decisions.times.back();
  for (const JobRecord& record : records) {
    finish.push_back(record.finish);
    last = std::max(last, record.finish);
  }
  m.rewards.push_back(LastReward(records, m.rewards));
  EpisodeData episode = m.Episode(*m.scenario, last, std::move(finish));
  episode.terminations.back() = true;
  m.writer.WriteEpisode(episode);
}

DecisionListener* EpisodeLog::BeginLive() {
  impl_->live = true;
  impl_->Begin();
  return impl_.get();
}

bool EpisodeLog::EndLive(LiveFacts facts) {
  Impl& m = *impl_;
  std::vector<Seconds>& times = m.decisions.times;
  if (times.empty()) return false;
  const Catalogue catalogue = Catalogue::FromCsv(facts.profiles, "profiles");
  const Scenario scenario(std::move(facts.workload), std::move(facts.cluster), facts.rules,
                          catalogue);
  m.seen.Renumber(facts.row_of);
  for (std::int32_t& job : m.slot_jobs) job = job < 0 ? -1 : facts.row_of[At(job)];
  for (std::size_t d = 0; d < times.size(); ++d) {
    Allocation renamed;
    for (const Allocation::Entry& entry : m.decisions.allocations[d].entries()) {
      const JobIndex job = facts.row_of[At(entry.job)];
      const Configuration& given = (*m.seen.TableAt(d, job))[entry.configuration];
      const std::int32_t same = scenario.facts(job).table->Find(given.key());
      ALLOT_CHECK_GT(same, -1);  // clusters only grow, and so do tables
      renamed.Add(job, same, m.decisions.allocations[d].shares(entry), entry.relaunch,
                  entry.partner == kAlone ? kAlone : facts.row_of[At(entry.partner)]);
    }
    m.decisions.allocations[d] = std::move(renamed);
  }
  const Seconds end = std::max(facts.end, times.back());
  m.rewards = LiveRewards(times, scenario.workload().jobs, facts.until, end);
  const bool all_ended = std::all_of(facts.finish.begin(), facts.finish.end(),
                                     [](Seconds finish) { return finish != kNever; });
  EpisodeData episode = m.Episode(scenario, end, facts.finish);
  episode.extras[kUntil] = MakeColumn(facts.until, "s");
  (all_ended ? episode.terminations : episode.truncations).back() = true;
  m.seen.AddColumns(&episode.extras);
  episode.extra_attributes["seen"] = {{"runtime", facts.runtime}, {"profiles", facts.profiles}};
  m.writer.WriteEpisode(episode);
  return true;
}

const std::filesystem::path& EpisodeLog::directory() const { return impl_->writer.directory(); }

void EpisodeLog::Close() { impl_->writer.Close(); }

// DataError for a log of another schema. A log that names none was not written by allot.
void RequireSchema(const MinariReader& log) {
  const AttributeMap attributes = log.attributes();
  const auto found = attributes.find("schema");
  if (found == attributes.end()) return;
  const auto* text = std::get_if<std::string>(&found->second);
  if (text == nullptr) {
    throw DataError("{}: attribute 'schema' must be text, is {}", log.path().string(),
                    KindOf(found->second));
  }
  if (*text == kEpisodeLogSchema) return;
  throw DataError("{}: the log has schema '{}', this allot needs '{}': write it again",
                  log.path().string(), *text, kEpisodeLogSchema);
}

std::vector<LoggedEpisode> ReadEpisodeLog(const std::string& path) {
  const MinariReader reader(path);
  RequireSchema(reader);
  std::vector<LoggedEpisode> episodes;
  for (std::int64_t e = 0; e < reader.episodes(); ++e) {
    const std::string where = fmt::format("{}: episode {}", reader.path().string(), e);
    const AttributeMap workload = reader.Attributes(e, "workload");
    const AttributeMap allocation = reader.Attributes(e, "allocation");
    const auto text = [&](const AttributeMap& map, const std::string& key) {
      const auto it = map.find(key);
      if (it == map.end() || !std::holds_alternative<std::string>(it->second)) {
        throw DataError("{}: attribute '{}' must be text of a log of allot, is {}", where, key,
                        it == map.end() ? "missing" : KindOf(it->second));
      }
      return std::get<std::string>(it->second);
    };
    LoggedEpisode logged;
    const bool live = reader.Has(e, "seen");
    // Measured throughput, or the user's own catalogue, or one that ships with allot.
    const AttributeMap profiled = live ? reader.Attributes(e, "seen") : workload;
    try {
      logged.catalogue = std::make_shared<const Catalogue>(
          live || profiled.contains("profiles")
              ? Catalogue::FromCsv(text(profiled, "profiles"), where)
          : profiled.contains("catalogue") ? Registry<CatalogueInfo>::Global()
                                                 .Get("catalogue", text(profiled, "catalogue"))
                                                 .get()
                                           : Catalogue::Embedded());
      Workload jobs_of =
          WorkloadFromColumns(reader, e, text(workload, "name"), text(workload, "origin"));
      std::vector<double> estimates;  // older logs have none
      if (reader.Has(e, kEstimates)) estimates = reader.ReadAs<double>(e, kEstimates);
      if (!estimates.empty() && estimates.size() != jobs_of.jobs.size()) {
        throw DataError("{}: '{}' must have one entry a job, it has {} for {} jobs", where,
                        kEstimates, estimates.size(), jobs_of.jobs.size());
      }
      for (const double estimate : estimates) {
        if (std::isnan(estimate) || (estimate > 0 && std::isfinite(estimate))) continue;
        throw DataError("{}: '{}' must be > 0 and finite, or NaN, got {}", where, kEstimates,
                        estimate);
      }
      ClusterSpec cluster = ClusterSpec::Parse(text(workload, "cluster"));
      if (workload.contains("topology")) {
        ReadReport report;
        cluster.SetTopology(ParseTopology(text(workload, "topology"), cluster, &report));
      }
      if (workload.contains("slowness")) {
        cluster.SetSlowness(GpuSlowness::FromCsv(text(workload, "slowness"), where, cluster));
      }
      logged.scenario = std::make_shared<const Scenario>(std::move(jobs_of), std::move(cluster),
                                                         SimFromJson(text(workload, "sim"), where),
                                                         *logged.catalogue, estimates);
    } catch (const Error& error) {
      // A usage error caused by a text of the log is bad data of this file.
      const bool of_the_log =
          error.code() == ExitCode::kBadData || error.code() == ExitCode::kUsage;
      if (!of_the_log || std::string_view(error.what()).starts_with(reader.path().string())) throw;
      throw DataError("{}: {}", where, error.what());
    }
    logged.policy = text(allocation, "policy");
    logged.decisions = DecisionsFromColumns(reader, e);
    logged.seed = static_cast<std::uint64_t>(reader.Episode(e).seed.value_or(0));
    logged.finish = reader.ReadAs<double>(e, "result/finish");
    const std::size_t jobs = logged.scenario->workload().jobs.size();
    if (logged.finish.size() != jobs) {
      throw DataError("{}: 'result/finish' must have one entry a job, it has {} for {} jobs", where,
                      logged.finish.size(), jobs);
    }
    for (const Allocation& allocation_of : logged.decisions.allocations) {
      for (const Allocation::Entry& entry : allocation_of.entries()) {
        const bool known = entry.job >= 0 && static_cast<std::size_t>(entry.job) < jobs;
        const std::int32_t size = known ? logged.scenario->facts(entry.job).table->size() : 0;
        if (known && entry.configuration >= 0 && entry.configuration < size) continue;
        throw DataError(
            "{}: 'allocation/job' and 'allocation/configuration' must name one of {} jobs and one "
            "of "
            "its configurations, got {} and {}",
            where, jobs, entry.job, entry.configuration);
      }
    }
    if (live) {
      logged.seen = std::make_shared<const ObservationLog>(
          ObservationLog::Read(reader, e, jobs, logged.scenario->cluster()));
      if (logged.seen->decisions() != logged.decisions.times.size()) {
        throw DataError("{}: 'seen/nodes' must have a value a decision ({}), has {}", where,
                        logged.decisions.times.size(), logged.seen->decisions());
      }
    }
    episodes.push_back(std::move(logged));
  }
  return episodes;
}

namespace {

void PlaySeen(const LoggedEpisode& episode, DecisionListener* listener) {
  const Scenario& scenario = *episode.scenario;
  ClusterSpec cluster;
  EventFinder events;
  Observation o;
  o.interval = scenario.options().interval;
  for (std::size_t d = 0; d < episode.decisions.times.size(); ++d) {
    ThrowIfInterrupted();
    episode.seen->Fill(d, scenario.workload(), scenario.cluster(), &cluster, &o);
    o.now = episode.decisions.times[d];
    std::vector<EndedJob> ended = std::move(o.events.ended);
    events.Find(&o);
    if (episode.seen->tells_ended()) o.events.ended = std::move(ended);
    const Allocation& logged = episode.decisions.allocations[d];
    Allocation given;
    for (const Allocation::Entry& entry : logged.entries()) {
      const Configuration& c = (*scenario.facts(entry.job).table)[entry.configuration];
      const ConfigurationTable* table = episode.seen->TableAt(d, entry.job);
      const std::int32_t same = table == nullptr ? -1 : table->Find(c.key());
      if (same < 0) {
        throw DataError("decision {}: job {} must have what it is given in its table of 'seen/'", d,
                        entry.job);
      }
      given.Add(entry.job, same, logged.shares(entry), entry.relaunch, entry.partner);
    }
    const Status status = ValidateAllocation(o, given);
    if (!status.ok()) throw DataError("decision {} at {} s: {}", d, o.now, status.message());
    listener->OnDecision(o, given);
  }
}

}  // namespace

Playback PlaybackOf(const LoggedEpisode& episode) {
  if (episode.seen == nullptr) return InSimulator(*episode.scenario, episode.decisions);
  return [&episode](DecisionListener* listener) { PlaySeen(episode, listener); };
}

void PlayBack(const std::string& path, const std::function<void()>& play) {
  try {
    play();
  } catch (const Error& error) {
    if (error.code() != ExitCode::kRunFailed && error.code() != ExitCode::kBadData) throw;
    throw DataError("{}: the log cannot be played back: {}", path, error.what());
  }
}

}  // namespace allot
