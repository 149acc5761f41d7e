#pragma once
// The configuration tables of a host's snapshots, kept from one to the next. A host sends all of
// them each time; most have not changed, and their hulls need not be built again. Used by
// SnapshotReader.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/cluster_spec.h"
#include "perf/configuration.h"
#include "plugin/allot_plugin.h"

namespace allot {

class TableStore {
 public:
  // The snapshot's tables, by number. Each stays as long as every snapshot has an equal one; others
  // are forgotten. DataError naming the table and both values for what breaks a rule; then those
  // read before stay. The snapshot's own offsets (configuration_begin) were checked. O(bytes),
  // which are only compared where a snapshot lists its tables as the one before did.
  const std::vector<const ConfigurationTable*>& Read(const allot_snapshot& snapshot);

  std::size_t size() const { return tables_.size(); }

 private:
  struct Kept {
    ConfigurationTable table;
    std::uint64_t used = 0;  // in the snapshot of this number
    std::size_t place = 0;   // there
  };
  using Tables = std::unordered_map<std::string, Kept>;  // by their bytes
  Tables::value_type* Find(const allot_snapshot& snapshot, std::int32_t index);
  void ForgetUnused();

  Tables tables_;
  std::vector<Tables::value_type*> last_;  // of the snapshot before, in its order
  std::vector<Tables::value_type*> now_;
  std::size_t next_ = 0;  // of last_: what probably comes next
  std::vector<const ConfigurationTable*> read_;
  std::string key_;
  std::uint64_t snapshot_ = 0;
};

}  // namespace allot
