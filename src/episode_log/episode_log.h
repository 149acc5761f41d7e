#pragma once
// Writes runs as episodes of a Minari dataset and reads them back (docs/formats/episode_log.md).
// simulate, compare, evaluate and serve write them with --log; pretrain, train, replay and explain
// read them.

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

// A run on real machines, as known at its end.
struct LiveFacts {
  Workload workload;  // the jobs that were there, their run times as measured
  ClusterSpec cluster;
  SimOptions rules;                  // the rules that policies got
  std::string runtime;               // spec
  std::string profiles;              // CSV of a catalogue: measured throughput of all models
  std::vector<std::int32_t> row_of;  // workload row of each job handle; -1 if it was not there
  std::vector<Seconds> finish;       // by row; kNever if it had not ended
  std::vector<Seconds> until;        // by row; when it left the system
  Seconds end = 0;
};

// One dataset per policy: episodes are written whole, one after the other, by one thread.
class EpisodeLog {
 public:
  struct Options {
    std::string root;    // Minari datasets folder
    std::string policy;  // spec
    std::string command;
    std::string sources{};  // JSON of experiment/sources.h; "" if unknown
    std::string dataset{};  // "" stands for DatasetId(policy)
    StepWindow window{};    // the width of observations and actions
    // JSON of Gymnasium's EnvSpec of the environment to which the actions belong; "" for none, as
    // in live runs.
    std::string env_spec{};
  };
  explicit EpisodeLog(Options options);
  ~EpisodeLog();

  // The listener for the next episode; pass it to RunPolicy together with Attach.
  DecisionListener* BeginEpisode(const Scenario& scenario, std::uint64_t seed);
  void Attach(const SimulatedCluster& cluster);
  void EndEpisode(const std::vector<JobRecord>& records);

  // Likewise for a run whose jobs are known only at its end: also stores every observation. False
  // if there was no decision and therefore no episode.
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
  std::vector<Seconds> finish;  // by job index, in the logged run
  // The observations of a live run, which cannot be simulated again; null for a simulated run. The
  // scenario of a live run has the measured run times and the throughput of `catalogue`.
  std::shared_ptr<const ObservationLog> seen;
  std::shared_ptr<const Catalogue> catalogue;
};

// Replays the observations and decisions of an episode for listeners: by a simulation, or for a
// live run from the log. The episode must outlive it.
Playback PlaybackOf(const LoggedEpisode& episode);

// `path`: a dataset folder or its main_data.hdf5. DataError naming file and data set when damaged,
// and naming both schemas for a log of another one.
std::vector<LoggedEpisode> ReadEpisodeLog(const std::string& path);

// Runs `play`, which replays decisions of the log at `path`. Decisions that the simulator refuses
// become a DataError that names the log.
void PlayBack(const std::string& path, const std::function<void()>& play);

}  // namespace allot
