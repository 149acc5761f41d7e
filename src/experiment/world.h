#pragma once
// The options that say in which world a command plays (workload, cluster, rules), the same for all
// commands, and the scenarios made from them.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/command_line.h"
#include "envs/episodes.h"
#include "envs/setting.h"
#include "experiment/workload_cache.h"
#include "sched/policy.h"
#include "sim/scenario.h"
#include "workload/calendar.h"
#include "workload/sample.h"
#include "workload/trace_reader.h"

namespace allot {

struct ProfileInfo;  // sim/profile.h

class World {
 public:
  // Declares --workload, --cluster, --load, ... on the command.
  void Declare(CommandLine& line);

  // Traces that several worlds read are read once, workloads that they make are made once: `cache`
  // must outlive the world.
  void ShareTraces(WorkloadCache* cache) { workload_cache_ = cache; }

  // Reads the trace, or makes it by its law with --seed; once. Errors as ReadTrace.
  const Workload& trace();
  // What reading it left out or adjusted; of a law nothing.
  const ReadReport& read_report() const { return read_report_; }
  std::string ReadNote() const;  // the same for people; "" for nothing
  ClusterSpec cluster() const { return ClusterSpec::Parse(cluster_); }
  const std::string& cluster_text() const { return cluster_; }
  SimOptions sim() const;
  bool elastic();
  // The policy that a spec means under the chosen profile.
  std::unique_ptr<Policy> MakePolicy(const std::string& spec);
  // The default policies to compare; of a peer's profile those without its defects.
  std::string ComparedPolicies();

  // One scenario per requested workload (--workloads), seeds --seed, --seed + 1, ...; of a law each
  // is made by its own seed.
  struct Named {
    std::shared_ptr<const Scenario> scenario;
    double load;
    std::uint64_t seed;
  };
  std::vector<Named> Scenarios();

  // A note for people when the workload is far more than the cluster can serve, else "".
  std::string OverloadHint(const std::vector<Named>& scenarios) const;

  // Random windows for training; of a law, of a workload made for the episode.
  EpisodeSource TrainingEpisodes(const ClusterSpec& cluster, Seconds span,
                                 std::vector<double> loads);

  // As --setting does.
  void UseSettings(std::string specs) { setting_specs_ = std::move(specs); }

  // What --setting names, in its order; made once.
  const std::vector<Setting>& settings();
  bool in_settings() const { return !setting_specs_.empty(); }

  std::uint64_t seed() const { return seed_; }
  bool made_by_law() const;
  Seconds tail() const;             // of a law
  nlohmann::ordered_json ToJson();  // the effective settings

 private:
  void CheckWindow(const WindowOptions& window);
  WindowOptions Window();
  std::vector<Named> SettingScenarios();
  std::shared_ptr<const Workload> MadeByLaw(std::uint64_t seed) const;
  EpisodeSource Episodes(const ClusterSpec& cluster, WindowOptions window);
  const Catalogue& catalogue();
  const ProfileInfo& Rules();

  std::string setting_specs_;
  std::vector<Setting> settings_;
  std::string workload_ = "embedded";
  std::string format_ = "auto";
  bool lenient_ = false;
  std::string cluster_ = "16x8";
  std::string from_;
  std::string to_;
  std::string span_ = "7d";
  std::vector<double> loads_;
  int workloads_ = 1;
  std::uint64_t seed_ = 0;
  bool rigid_ = false;
  std::string catalogue_file_;
  std::unique_ptr<const Catalogue> catalogue_;  // read from it, once
  std::string profile_ = "default";
  std::optional<double> interval_;
  std::optional<double> restart_cost_;
  std::optional<double> launch_cost_;
  double speedup_ = 1;
  std::string lengths_;
  std::string failures_;
  std::string node_events_;
  std::optional<double> rate_;
  std::optional<int> jobs_;
  std::string tail_;

  WorkloadCache* workload_cache_ = nullptr;
  std::shared_ptr<const Workload> trace_;
  ReadReport read_report_;
};

// For people: what reading the trace at `path` left out, by reason; "" for nothing.
std::string ReadNote(const std::string& path, const ReadReport& report);

}  // namespace allot
