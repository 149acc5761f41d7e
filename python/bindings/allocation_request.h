#pragma once
// What a policy in Python answers, before it is an allocation: who shall run in which
// configuration, in the order in which they are served, and, where it says so, on which nodes.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster/free_map.h"
#include "cluster/observation.h"
#include "sched/stages.h"

namespace allot {

class AllocationRequest {
 public:
  struct Item {
    std::int32_t row;
    std::int32_t configuration;
    std::vector<std::pair<NodeIndex, UnitCounts>> nodes;  // empty: the placement stage chooses
  };

  // UsageError with row, job and both values: a row or a configuration that there is not, a row
  // twice, units on nodes that do not add up to the configuration.
  void Add(const Observation& observation, Item item);
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
};

// The configuration of exactly so many GPUs that is the fastest of those that fit into `room` (by
// GPU type); what the job runs in where that has so many. UsageError naming the possible numbers
// where there is none; -1 where none of them fits.
std::int32_t ConfigurationOfGpus(const Observation& observation, std::int32_t row, GpuCount gpus,
                                 const std::vector<Resources>& room);

// Requests into allocations; keeps its buffers.
class RequestPlacer {
 public:
  RequestPlacer();

  // Items that name nodes get GPUs there: those that the job holds where it holds as many on each
  // node, else the free ones of the lowest numbers. Those that name none are served in order, as
  // far as the cluster's totals by GPU type go, and placed by the stage `packed`; who does not fit
  // is passed over. A request does one or the other. UsageError where it mixes them, and where
  // nodes have not room enough.
  void Place(const Observation& observation, const AllocationRequest& request,
             Allocation* allocation);

 private:
  void PlaceOnNodes(const Observation& observation, const AllocationRequest& request,
                    Allocation* allocation);
  bool KeepsGpus(const Observation& observation, const AllocationRequest::Item& item);

  std::unique_ptr<Placement> placement_;
  std::vector<Grant> grants_;
  std::vector<Resources> room_;
  std::vector<NodeShare> shares_;
  FreeMap free_;
};

}  // namespace allot
