#pragma once
// A host's snapshot (plugin/allot_plugin.h), checked, as the observation that policies know. The
// library's side of the C interface; the host's is SnapshotArrays.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/observation.h"
#include "plugin/allot_plugin.h"
#include "plugin/table_store.h"

namespace allot {

class SnapshotReader {
 public:
  // UsageError for a call that makes no sense (no array where one must be), DataError naming the
  // array, the rule and both values for what a policy could stumble over. What the host's jobs hold
  // may be on nodes that have no capacity any more. The observation, and all that it points to,
  // lives until the next Read.
  Observation& Read(const allot_snapshot& snapshot);

  // The snapshot just read is taken: what it names keeps its name. Before, a snapshot that is
  // refused names nobody.
  void KeepNames();

  // Numbers of users and groups may stand for other names from now on.
  void Forget();

  // Whether the host told which jobs have ended; else the events are empty.
  bool tells_ended() const { return tells_ended_; }

  const TableStore& tables() const { return tables_; }

 private:
  void ReadCluster(const allot_snapshot& snapshot);
  void ReadTables(const allot_snapshot& snapshot);
  void ReadJobs(const allot_snapshot& snapshot);
  void ReadShares(const allot_snapshot& snapshot);
  void ReadRunning(const allot_snapshot& snapshot);
  void ReadEnded(const allot_snapshot& snapshot);
  void CheckNames(const allot_snapshot& snapshot) const;

  allot_snapshot read_{};  // what the host gave last
  ClusterSpec cluster_;
  TableStore tables_;
  const std::vector<const ConfigurationTable*>* table_ = nullptr;  // of this snapshot
  Observation o_;
  bool tells_ended_ = false;
  std::vector<JobIndex> by_number_;
  std::vector<std::uint64_t> held_;   // GPUs, by node
  std::vector<std::int32_t> row_on_;  // by node: the last one that holds something there
  std::vector<std::string> user_names_;
  std::vector<std::string> group_names_;
};

}  // namespace allot
