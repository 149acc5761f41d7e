#pragma once
// Which configurations a job could have on the cluster as it is now with nothing else there: the
// job may hold so many units (ConfigurationTable::Allocatable), runs alone on its GPUs, and nodes
// of the type hold the units over as many nodes as its span says. By the rules of
// cluster/validate.h: of these, and of no others without a partner, there is an allocation of the
// one job that validates (of units of two kinds: as far as UnitFit finds one). What the mask of
// ChoiceAction and the masks of episode logs say.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/free_map.h"
#include "features/unit_fit.h"
#include "perf/configuration.h"

namespace allot {

class LegalConfigurations {
 public:
  // The cluster may have changed since, also in place. O(nodes).
  void Observe(const ClusterSpec& cluster);

  // 1 = legal, by index into the table. Once for each layout, O(configurations x nodes); then O(1).
  // Valid until the next Observe.
  const std::vector<std::uint8_t>& Of(const ConfigurationTable& table);

 private:
  bool Legal(const ConfigurationTable& table, std::int32_t index);
  bool HeldByNodes(const Configuration& configuration, const Resources& unit);

  const ClusterSpec* cluster_ = nullptr;
  std::vector<Node> nodes_;  // as they were when the answers were found
  FreeMap free_;
  UnitFit fit_;
  std::vector<std::int32_t> room_;
  std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> by_layout_;
};

}  // namespace allot
