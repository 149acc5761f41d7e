#pragma once
// A world that policies are run in, made from its values (world_spec.h): reads or makes the
// workload once, and makes scenarios, episodes for training, and policies as its rules mean them.

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

inline constexpr const char* kTunedIndex = "tuned";  // in place of a policy spec

inline constexpr int kLawJobs = 1000;  // of a workload made by a law, where the spec says none

class World {
 public:
  // Traces that several worlds read are read once, workloads that they make are made once, where
  // they share a cache, which must outlive them. Nothing is read or checked yet.
  explicit World(WorldSpec spec = {}, WorkloadCache* cache = nullptr)
      : spec_(std::move(spec)), workload_cache_(cache) {}

  const WorldSpec& spec() const { return spec_; }

  // Reads the trace, or makes it by its law with --seed; once. Errors as ReadTrace.
  const Workload& trace();
  // What reading it left out or adjusted; of a law, which of its jobs do not fit the cluster.
  const ReadReport& read_report() const { return read_report_; }
  std::string ReadNote() const;                     // the same for people; "" for nothing
  std::optional<ReadReport> ClusterReport() const;  // of a cluster that is a file
  // Policies get the time limits of the trace as length estimates, where it has some and the spec
  // names no estimates; where it has none, those of `otherwise`, "": the profile's.
  // Returns what the trace has.
  TimeLimits GoByTimeLimits(const std::string& otherwise = "");
  ClusterSpec cluster() const { return ClusterSpec::Parse(spec_.cluster); }
  // Of the profile and the options. A trace of the user's own is decided at arrivals and
  // completions, as an online scheduler does, unless a profile or an interval is given; the
  // embedded trace, laws and settings are decided at intervals, in which networks were trained.
  SimOptions sim() const;
  // The trace is a file: neither embedded, nor made by a law, nor a setting's.
  bool reads_file() const;
  // Whether profiles are drawn for jobs that name none: where --elastic asks for it, and by default
  // in the worlds that ship with allot. A user's trace is taken as it stands.
  bool elastic();
  // The policy that a spec means under the chosen profile.
  std::unique_ptr<Policy> MakePolicy(const std::string& spec);
  // The files and folders that the spec names (sched/policy.h).
  std::vector<std::string> FilesOfPolicy(const std::string& spec);
  // The default policies to compare, kComparedPolicies; of a peer's profile those without its
  // defects.
  std::string ComparedPolicies();

  // One scenario per requested workload, seeds `seed`, `seed` + 1, ...; of a law each
  // is made by its own seed.
  struct Named {
    std::shared_ptr<const Scenario> scenario;
    double load;
    std::uint64_t seed;
    std::int32_t window = kWindowOfItsOwn;  // of the trace, which it was drawn from
  };
  std::vector<Named> Scenarios();
  // The same, last of all: the trace becomes the scenario where there is one of them, so that its
  // jobs are not held twice. trace() may not be called afterwards.
  std::vector<Named> TakeScenarios();
  // All of the trace, also what jobs did that still ran when its record begins; not thinned.
  std::shared_ptr<const Scenario> WholeRecord();
  // The scenario that one of them with this seed is; not of settings, which are episodes
  // themselves.
  EpisodeSource EvaluationEpisodes();

  // A note for people when the workload is far more than the cluster can serve, else "".
  std::string OverloadHint(const std::vector<Named>& scenarios) const;
  // Where a million jobs or more are decided at events: how to be done sooner. "" for none.
  std::string ManyEventsHint(const std::vector<Named>& scenarios) const;
  // Warnings of options that have no effect on these workloads: --length-estimates user without
  // time limits, guarantees of accounts that no job has. "" for none.
  std::string UselessOptionsHint(const std::vector<Named>& scenarios) const;

  // Random windows for training; of a law, of a workload made for the episode.
  EpisodeSource TrainingEpisodes(const ClusterSpec& cluster, Seconds span,
                                 std::vector<double> loads);

  // Offered loads of spans that training may draw (envs/episodes.h), the lowest first.
  std::vector<double> LoadsOfSpans(const ClusterSpec& cluster, Seconds span);

  // Those that the spec names, in its order; made once. UsageError where they are of several
  // profiles: the same name would mean several policies.
  const std::vector<Setting>& settings();
  // Of any profiles: for training, where each episode has a world of its own.
  const std::vector<Setting>& mixed_settings();

  // The world as networks and policies with a parameter `world` know it (ProfileInfo::world).
  const std::string& name();
  // What a policy spec means in one of the settings. kTunedIndex: its best fixed index.
  static std::string SpecIn(const Setting& setting, const std::string& spec);
  // The best fixed index by world: by profile of the settings, or the one profile. UsageError where
  // settings of one profile differ in it.
  std::map<std::string, std::string> TunedIndices();
  bool in_settings() const { return !spec_.setting.empty(); }

  bool made_by_law() const;
  bool arrivals_continue() const;   // by a law, for as long as a tail asks for
  Seconds tail() const;             // of a law
  nlohmann::ordered_json ToJson();  // the effective settings

 private:
  void CheckWindow(const WindowOptions& window);
  WindowOptions Window();
  WindowOptions EvaluationWindow();
  std::vector<Named> SettingScenarios();
  // Renames models, keeps sizes, and drops or clips oversized jobs, where the spec says so.
  void Prepare(Workload* workload, ReadReport* report) const;
  std::shared_ptr<const Workload> Prepared(std::shared_ptr<const Workload> read,
                                           ReadReport* report) const;  // a copy, if need be
  Oversized OversizedFor(const Workload& workload) const;
  // Jobs larger than the cluster are left out unless --oversized says otherwise: a law knows no
  // cluster. Counted in `report`.
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
  std::shared_ptr<Workload> own_trace_;  // trace_, where no cache has it too
  ReadReport read_report_;
};

}  // namespace allot
