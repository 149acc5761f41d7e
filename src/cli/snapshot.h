#pragma once
// One moment of a cluster as a JSON file that people can write (docs/formats/snapshot.md): written
// from an episode log and read by 'allot explain'.

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cluster/observation.h"

namespace allot {

// Owns all that the observation points to; stays where it was made.
struct Snapshot {
  Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  ClusterSpec cluster;
  std::deque<ConfigurationTable> tables;
  std::vector<std::string> names;  // of the jobs, by row
  Observation observation;
};

nlohmann::ordered_json SnapshotJson(const Observation& observation,
                                    const std::vector<std::string>& names);

// DataError naming the file, the key and both values for what is missing, out of range, or breaks
// a rule of allocations.
std::unique_ptr<Snapshot> ReadSnapshot(const std::string& path);

}  // namespace allot
