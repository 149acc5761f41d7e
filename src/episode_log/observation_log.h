#pragma once
// All observations of a live run. A real cluster cannot be simulated again, so its log contains the
// observations themselves (group seen/ of docs/formats/episode_log.md). EpisodeLog writes and reads
// them; they are replayed when a policy learns from a log.

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/observation.h"
#include "record/data_array.h"
#include "record/minari_reader.h"
#include "workload/workload.h"

namespace allot {

class ObservationLog {
 public:
  void Add(const Observation& observation);
  std::size_t decisions() const { return nodes_.size(); }

  // Replaces the handles of jobs by their rows in the log's workload.
  void Renumber(std::span<const std::int32_t> row_of);

  void AddColumns(ArrayMap* columns) const;
  // DataError naming file and column if a column is missing, has another length, or a value out of
  // range.
  static ObservationLog Read(const MinariReader& reader, std::int64_t episode, std::size_t jobs,
                             const ClusterSpec& cluster);

  // True if Fill sets Events::ended.
  bool tells_ended() const { return !first_ended_.empty(); }

  // Fills a decision's observation except `now` and `interval`; `cluster` becomes `nominal` without
  // the nodes that were down. Users and groups are those of the workload's jobs. The log,
  // `workload` and `cluster` must outlive the observation.
  void Fill(std::size_t decision, const Workload& workload, const ClusterSpec& nominal,
            ClusterSpec* cluster, Observation* observation) const;

  // A job's table at that decision; null if the job was not there.
  const ConfigurationTable* TableAt(std::size_t decision, JobIndex job) const;

 private:
  // Calls F(column) for the columns that are stored unchanged.
  template <typename F>
  static void ForEachColumn(const F& visit);
  std::int32_t TableOf(const ConfigurationTable& table);

  // By decision.
  std::vector<std::int64_t> first_row_{0};
  std::vector<std::int32_t> nodes_;  // number of known nodes
  std::vector<std::int64_t> first_down_{0};
  std::vector<std::int32_t> down_;
  // By row; tables by number. Users and groups are those of the workload's jobs.
  JobColumns rows_;
  std::vector<std::int32_t> table_;
  std::vector<std::int64_t> first_share_{0};
  // By decision: jobs that had ended since the one before. Empty if the log lacks them.
  std::vector<std::int64_t> first_ended_;
  std::vector<EndedJob> ended_;
  // By share.
  std::vector<std::int32_t> node_;
  std::vector<std::uint64_t> gpus_;
  std::vector<std::int16_t> units_;

  std::deque<ConfigurationTable> tables_;  // each once
  std::unordered_map<std::uint64_t, std::int32_t> by_fingerprint_;
};

}  // namespace allot
