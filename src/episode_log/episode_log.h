#pragma once
// A run as an episode of a Minari dataset, and back: what simulate, compare, evaluate and serve
// write with --log and what pretrain, train, replay and explain read (docs/formats/episode_log.md).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/job_record.h"
#include "episode_log/observation_log.h"
#include "episode_log/step_columns.h"
#include "perf/catalogue.h"
#include "record/minari_writer.h"
#include "sched/recorded_policy.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"

namespace allot {

// A run on real machines, as far as it is known at its end.
struct LiveFacts {
  Workload workload;  // the jobs that were there, their run times as measured
  ClusterSpec cluster;
  SimOptions rules;                  // as policies got them
  std::string runtime;               // spec
  std::string profiles;              // CSV of a catalogue: throughput as measured, of all models
  std::vector<std::int32_t> row_of;  // workload row of each job handle; -1: was not there
  std::vector<Seconds> finish;       // by row; kNever: had not ended
  std::vector<Seconds> until;        // by row; that it was in the system
  Seconds end = 0;
};

// One dataset per policy: episodes are written whole, one after the other, by one thread.
class EpisodeLog {
 public:
  struct Options {
    std::string root;    // Minari datasets folder
    std::string policy;  // spec as given
    std::string command;
    std::string sources{};  // JSON of experiment/sources.h; "": not known
    std::string dataset{};  // "": DatasetId(policy)
    StepWindow window{};    // what observations and actions hold
    // JSON of Gymnasium's EnvSpec of the environment whose actions these are; "": none, as of live
    // runs.
    std::string env_spec{};
  };
  explicit EpisodeLog(Options options);
  ~EpisodeLog();

  // Listener for the next episode; give it to RunPolicy together with Attach.
  DecisionListener* BeginEpisode(const Scenario& scenario, std::uint64_t seed);
  void Attach(const SimulatedCluster& cluster);
  void EndEpisode(const std::vector<JobRecord>& records);

  // The same for a run whose jobs are known at its end only: what every decision saw is kept too.
  // False when there was no decision and therefore is no episode.
  DecisionListener* BeginLive();
  bool EndLive(LiveFacts facts);

  void Close();  // renames the file to its final name

  const std::filesystem::path& directory() const;

  static std::string DatasetId(const std::string& policy);  // "cluster/las-queues-3600-v0"

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// An episode read back: enough to simulate it again.
struct LoggedEpisode {
  std::shared_ptr<const Scenario> scenario;
  DecisionLog decisions;
  std::string policy;
  std::uint64_t seed = 0;
  std::vector<Seconds> finish;  // by job index, as the logged run had them
  // Of a live run, which cannot be simulated again: what every decision saw; null: simulated. Its
  // scenario is that of the jobs' measured run times and throughput, which `catalogue` holds.
  std::shared_ptr<const ObservationLog> seen;
  std::shared_ptr<const Catalogue> catalogue;
};

// What its decisions saw and gave, for listeners: simulated again, or of a live run as it was seen.
// The episode must outlive it.
Playback PlaybackOf(const LoggedEpisode& episode);

// `path`: a dataset folder or its main_data.hdf5. DataError naming file and data set when damaged,
// and naming both schemas for a log of another one.
std::vector<LoggedEpisode> ReadEpisodeLog(const std::string& path);

// Runs `play`, which plays decisions of the log at `path` back: decisions that the simulator
// refuses are damaged data, and the DataError names the log.
void PlayBack(const std::string& path, const std::function<void()>& play);

}  // namespace allot
