#pragma once
// The configuration tables of a host's snapshots, kept from one to the next. A host sends all of
// them each time; most have not changed, and their hulls need not be built again. Used by
// SnapshotReader.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "cluster/cluster_spec.h"
#include "perf/configuration.h"
#include "plugin/allot_plugin.h"

namespace allot {

class TableStore {
 public:
  // Table `index` of the snapshot; it stays as long as every snapshot has an equal one. DataError
  // naming the table and both values for what breaks a rule. The snapshot's own offsets
  // (configuration_begin) were checked.
  const ConfigurationTable* Get(const allot_snapshot& snapshot, std::int32_t index);

  // After the last Get of a snapshot: forgets what it had no use for.
  void EndSnapshot();

  std::size_t size() const { return tables_.size(); }

 private:
  struct Kept {
    ConfigurationTable table;
    std::uint64_t used;  // in the snapshot of this number
  };
  std::unordered_map<std::string, Kept> tables_;  // by their bytes
  std::string key_;
  std::uint64_t snapshot_ = 1;
};

}  // namespace allot
