#pragma once
// The configuration tables of a host, flat as the C interface takes them, kept from one snapshot to
// the next: a table that a job had the last time keeps its number and is not written again. Used by
// SnapshotArrays.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "perf/configuration.h"
#include "plugin/allot_plugin.h"

namespace allot {

class TableArrays {
 public:
  // The number of each table, by row; tables of equal fingerprint are one. O(rows + tables +
  // configurations of tables that are new).
  const std::vector<std::int32_t>& Number(const std::vector<const ConfigurationTable*>& tables);

  // Points the snapshot to the arrays, until the next Number. Some tables in them may be used by no
  // row any more, fewer than are in use.
  void PointTo(allot_snapshot* snapshot) const;

 private:
  struct Names {
    std::string table;
    std::array<std::string, kMaxUnitKinds> kinds;
  };
  std::size_t size() const { return fingerprint_.size(); }
  void MarkKnown(const std::vector<const ConfigurationTable*>& tables);
  void Forget();
  std::int32_t NumberOf(const ConfigurationTable& table);
  std::size_t RoomFor(std::size_t configurations);
  void Write(const ConfigurationTable& table, std::size_t number);

  std::uint64_t snapshot_ = 0;
  std::unordered_map<std::uint64_t, std::int32_t> number_of_;  // by fingerprint
  std::vector<std::uint64_t> fingerprint_;                     // by number
  std::vector<std::uint64_t> used_;  // by number: the last snapshot with a row that has it
  std::vector<std::size_t> unused_;  // numbers that no row has
  std::vector<std::int32_t> number_;
  std::vector<std::size_t> new_rows_;  // whose tables have no number yet

  std::deque<Names> names_;
  std::vector<const char*> table_name_, kind_name_;
  std::vector<std::int32_t> table_kinds_, kind_gpus_, kind_cpus_, table_most_units_;
  std::vector<double> kind_price_;
  std::vector<std::int32_t> configuration_begin_, configuration_type_, configuration_units_;
  std::vector<std::int32_t> configuration_least_nodes_, configuration_most_nodes_;
  std::vector<double> configuration_rate_;
};

}  // namespace allot
