#pragma once
// A simulated run as an episode of a Minari dataset, and back: what compare and evaluate write with
// --log and what pretrain and replay read (docs/formats/episode_log.md).

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/job_record.h"
#include "record/minari_writer.h"
#include "sched/recorded_policy.h"
#include "sim/scenario.h"
#include "sim/simulated_cluster.h"

namespace allot {

// One dataset per policy: episodes are written whole, one after the other, by one thread.
class EpisodeLog {
 public:
  struct Options {
    std::string root;    // Minari datasets folder
    std::string policy;  // spec as given
    std::string command;
    int window = 128;  // jobs per decision that the observations hold
  };
  explicit EpisodeLog(Options options);
  ~EpisodeLog();

  // Listener for the next episode; give it to RunPolicy together with Attach.
  DecisionListener* BeginEpisode(const Scenario& scenario, std::uint64_t seed);
  void Attach(const SimulatedCluster& cluster);
  void EndEpisode(const std::vector<JobRecord>& records);
  void Close();  // renames the file to its final name

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
};

// `path`: a dataset folder or its main_data.hdf5. DataError naming file and data set when damaged.
std::vector<LoggedEpisode> ReadEpisodeLog(const std::string& path);

// Runs `play`, which plays decisions of the log at `path` back: decisions that the simulator
// refuses are damaged data, and the DataError names the log.
void PlayBack(const std::string& path, const std::function<void()>& play);

}  // namespace allot
