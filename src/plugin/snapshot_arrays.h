#pragma once
// An observation as a host's snapshot (plugin/allot_plugin.h): the host's side of the C interface,
// for the daemon. Every number is passed unchanged: the policy behind the interface sees the
// same bytes as one that is called directly.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/observation.h"
#include "plugin/allot_plugin.h"
#include "plugin/table_arrays.h"

namespace allot {

class SnapshotArrays {
 public:
  // Points into this object and the observation; until the next call.
  const allot_snapshot& Of(const Observation& observation);

 private:
  // Names by number, as a host lists them; made anew only when there are more.
  class NameList {
   public:
    const char* const* Of(const std::vector<std::string>* names);  // null where there are none

   private:
    const std::string* first_ = nullptr;
    std::vector<const char*> list_;
  };

  void AddCluster(const ClusterSpec& cluster);

  allot_snapshot snapshot_{};
  std::vector<const char*> type_name_;
  std::vector<std::int32_t> node_type_, node_gpus_, node_cpus_;
  TableArrays tables_;
  std::vector<std::int32_t> share_node_, share_units_;
  std::vector<std::uint64_t> share_gpus_;
  std::vector<allot_ended_job> ended_;
  NameList user_name_, group_name_;
};

}  // namespace allot
