#pragma once
// How many nodes a simulated cluster has while it runs: clusters of rented nodes grow and shrink
// with their use (Qiao et al., "Pollux", OSDI'21, section 4.2.2). Asked at every interval, before
// its decision; nodes come at once, and a node that goes stops its jobs, which lose no work but
// their restart.
//
// A new one is a file in sim/autoscalers/ that registers an AutoscalerInfo, for --autoscale.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/observation.h"
#include "core/params.h"
#include "core/registry.h"

namespace allot {

// Of one episode; not thread-safe.
class Autoscaler {
 public:
  virtual ~Autoscaler() = default;

  // At the start, of the cluster's `all` nodes.
  virtual std::int32_t First(std::int32_t all) = 0;
  // How many there shall be from now on, 1 to `all`. The observation has `present` nodes with
  // capacity and shows what runs before the decision of this moment.
  virtual std::int32_t Nodes(const Observation& observation, std::int32_t present,
                             std::int32_t all) = 0;
};

struct AutoscalerInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;
  // UsageError for values that it does not accept.
  std::function<std::unique_ptr<Autoscaler>(const Params&)> make;
};

// "utility:min=4,max=16", or parameters alone: of `utility`. Null for "". UsageError with
// did-you-mean, or naming the range.
std::unique_ptr<Autoscaler> MakeAutoscaler(std::string_view spec);

}  // namespace allot
