#pragma once
// One moment of a cluster as JSON that people can write (docs/formats/snapshot.md). 'allot explain'
// writes and reads it; through the C interface (plugin/allot_plugin.h) hosts send it.

#include <cstdint>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/observation.h"
#include "workload/workload.h"

namespace allot {

// That one unit may need, as a host or a text says it: so no total leaves 32 bits.
inline constexpr std::int32_t kMostCpusOfUnit = 2'000;

// Owns all that the observation points to; stays where it was made. Users and groups are known by
// name: their numbers are of this snapshot.
struct Snapshot {
  Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  ClusterSpec cluster;
  std::deque<ConfigurationTable> tables;
  std::vector<std::string> names;  // of the jobs, by row
  NameTable users;
  NameTable groups;
  Observation observation;
  bool tells_ended = false;              // which jobs have ended since the last snapshot
  std::vector<std::string> ended_names;  // of these; "" if not given
};

nlohmann::ordered_json SnapshotJson(const Observation& observation,
                                    const std::vector<std::string>& names);

// A table as it stands in a snapshot, and back; DataError for what no table can be on a cluster of
// so many GPU types.
nlohmann::ordered_json TableJson(const ConfigurationTable& table);
ConfigurationTable TableFromJson(const nlohmann::ordered_json& json, std::size_t types);

// Where a job runs, as it stands in a snapshot or a decision, and back from a job's "shares".
nlohmann::ordered_json SharesJson(std::span<const NodeShare> shares);
std::vector<NodeShare> SharesFromJson(const nlohmann::ordered_json& job, std::size_t nodes);

// DataError naming the origin, the key and both values for what is missing, out of range, or breaks
// a rule of allocations. Jobs are numbered by row.
std::unique_ptr<Snapshot> ParseSnapshot(std::string_view text, const std::string& origin);
std::unique_ptr<Snapshot> ReadSnapshot(const std::string& path);  // the same of a file

}  // namespace allot
