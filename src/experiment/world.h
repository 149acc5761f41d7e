#pragma once
// A world to run policies in, made from its values (world_spec.h): reads or makes the workload
// once, and makes scenarios, episodes for training, and the policies of its profile.

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "envs/episodes.h"
#include "envs/setting.h"
#include "experiment/oversized.h"
#include "experiment/read_note.h"
#include "experiment/workload_cache.h"
#include "experiment/world_spec.h"
#include "metrics/paired.h"
#include "sched/policy.h"
#include "sim/scenario.h"
#include "workload/calendar.h"
#include "workload/sample.h"
#include "workload/time_limits.h"
#include "workload/trace_reader.h"

namespace allot {

struct ProfileInfo;  // sim/profile.h

inline constexpr const char* kTunedIndex = "tuned";  // stands for a policy spec

inline constexpr int kLawJobs = 1000;  // default number of jobs of a law

class World {
 public:
  // Worlds that share a cache, which must outlive them, read a trace or make a workload only once.
  // The constructor reads and checks nothing.
  explicit World(WorldSpec spec = {}, WorkloadCache* cache = nullptr)
      : spec_(std::move(spec)), workload_cache_(cache) {}

  const WorldSpec& spec() const { return spec_; }

  // Reads the trace, or makes it by its law with --seed, once. Throws the errors of ReadTrace.
  const Workload& trace();
  // Rows that were left out or adjusted; for a law, the jobs that do not fit the cluster.
  const ReadReport& read_report() const { return read_report_; }
  std::string ReadNote() const;                     // the report as lines, or ""
  std::optional<ReadReport> ClusterReport() const;  // if the cluster is a file
  std::string TopologyNote() const;                 // what a file of a topology left open, or ""
  // If the spec names no length estimates, policies get the time limits of the trace, or without
  // limits the estimates of `otherwise` ("" stands for the profile's). Returns the trace's limits.
  TimeLimits GoByTimeLimits(const std::string& otherwise = "");
  ClusterSpec cluster() const;  // with its topology and slowness
  // The rules of the profile and the options. A trace in a file is decided at arrivals and
  // completions, like an online scheduler, unless a profile or an interval is given; the embedded
  // trace, laws and settings are decided at intervals, in which networks were trained.
  SimOptions sim() const;
  // True if the trace is a file: neither embedded, nor made by a law, nor of a setting.
  bool reads_file() const;
  // True if models are drawn for jobs that name none: with --elastic, and by default in the worlds
  // that ship with allot, but not for a trace in a file.
  bool elastic();
  // The policy of a spec under the chosen profile.
  std::unique_ptr<Policy> MakePolicy(const std::string& spec);
  // The files and folders that the spec names (sched/policy.h).
  std::vector<std::string> FilesOfPolicy(const std::string& spec);
  // The default policies to compare: kComparedPolicies, or for a peer's profile those without its
  // defects.
  std::string ComparedPolicies();

  // One scenario per requested workload, with seeds `seed`, `seed` + 1, ...; a law makes each with
  // its own seed.
  struct Named {
    std::shared_ptr<const Scenario> scenario;
    double load;
    std::uint64_t seed;
    std::int32_t window = kWindowOfItsOwn;  // the window of the trace that it was drawn from
  };
  std::vector<Named> Scenarios();
  // Like Scenarios(), but call it last: a single scenario takes over the trace, so that its jobs
  // are not in memory twice. trace() must not be called afterwards.
  std::vector<Named> TakeScenarios();
  // The whole trace without sampling, with jobs that still ran when its record begins.
  std::shared_ptr<const Scenario> WholeRecord();
  // The scenario with this seed. Not for settings, which are episodes themselves.
  EpisodeSource EvaluationEpisodes();

  // A note if the workload far exceeds the cluster, else "".
  std::string OverloadHint(const std::vector<Named>& scenarios) const;
  // A hint on how to shorten a run that decides a million jobs or more at events, else "".
  std::string ManyEventsHint(const std::vector<Named>& scenarios) const;
  // Warnings of options without effect on these workloads: --length-estimates user without time
  // limits, guarantees of accounts that no job has. "" without such.
  std::string UselessOptionsHint(const std::vector<Named>& scenarios) const;

  // Random windows for training; a law makes a workload for each episode.
  EpisodeSource TrainingEpisodes(const ClusterSpec& cluster, Seconds span,
                                 std::vector<double> loads);

  // The offered loads of the spans that training may draw (envs/episodes.h), ascending.
  std::vector<double> LoadsOfSpans(const ClusterSpec& cluster, Seconds span);

  // The settings of the spec, in its order; made once. UsageError if they have several profiles, in
  // which one name would stand for several policies.
  const std::vector<Setting>& settings();
  // The settings with any profiles, for training, where each episode has its own world.
  const std::vector<Setting>& mixed_settings();

  // The world's name for networks and policies with a parameter `world` (ProfileInfo::world).
  const std::string& name();
  // The policy of a spec in one of the settings. kTunedIndex stands for its best fixed index.
  static std::string SpecIn(const Setting& setting, const std::string& spec);
  // The best fixed index by world, which is the profile of the settings or the one profile.
  // UsageError if settings of one profile differ in it.
  std::map<std::string, std::string> TunedIndices();
  bool in_settings() const { return !spec_.setting.empty(); }

  bool made_by_law() const;
  bool arrivals_continue() const;   // true for a law with a tail
  Seconds tail() const;             // of a law
  nlohmann::ordered_json ToJson();  // the effective options

 private:
  void CheckWindow(const WindowOptions& window);
  WindowOptions Window();
  WindowOptions EvaluationWindow();
  std::vector<Named> SettingScenarios();
  ElasticityOptions Elasticity() const;
  // Renames models, keeps sizes, and drops or clips oversized jobs, as the spec says.
  void Prepare(Workload* workload, ReadReport* report) const;
  void AssumeCommunication(Workload* workload, ReadReport* report) const;
  std::shared_ptr<const Workload> Prepared(std::shared_ptr<const Workload> read,
                                           ReadReport* report) const;  // a copy, if need be
  Oversized OversizedFor(const Workload& workload) const;
  // Drops jobs larger than the cluster unless --oversized says otherwise, because a law knows no
  // cluster. Counts them in `report`.
  std::shared_ptr<const Workload> MadeByLaw(std::uint64_t seed, ReadReport* report) const;
  EpisodeSource Episodes(const ClusterSpec& cluster, WindowOptions window);
  void CheckObjectives(const Scenario& scenario) const;
  const Catalogue& catalogue();
  const ProfileInfo& Rules();
  std::string ProfileName() const;

  WorldSpec spec_;
  std::vector<Setting> settings_;
  std::unique_ptr<const Catalogue> catalogue_;  // read from its file, once
  WorkloadCache* workload_cache_;
  std::shared_ptr<const Workload> trace_;
  std::shared_ptr<Workload> own_trace_;  // trace_, unless a cache has it too
  ReadReport read_report_;
};

}  // namespace allot
