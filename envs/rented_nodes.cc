#include "envs/rented_nodes.h"

#include "core/nested_spec.h"
#include "sim/autoscaler.h"

namespace allot {

std::vector<ParamSpec> WithRentedNodes(std::vector<ParamSpec> params) {
  params.push_back({"autoscale", "",
                    "nodes come and go with their use, as --autoscale: "
                    "utility/min=2/max=16/utility=0.4|0.8; empty: all are there"});
  params.push_back({"node-price", "0", "of a node for an hour", 0, 1e9});
  return params;
}

void ReadRentedNodes(const Params& params, SimOptions* options) {
  options->autoscale = NestedSpec(params.Text("autoscale"));
  (void)MakeAutoscaler(options->autoscale);
  options->node_price = params.Number("node-price");
}

}  // namespace allot
