// Three entities with weights 1, 2 and 3 that divide a cluster of three GPUs of each type, each of
// them fairly among its own jobs: the policy of Figure 11 of Gavel (Narayanan et al., OSDI'20),
// which shows the shares of one run over time. With allot's rounds: Gavel's programs do not offer
// it.

#include "sweep/preset.h"

namespace allot {
namespace {

ALLOT_REGISTER(SweepPreset,
               (SweepPreset{
                   "gavel-hierarchical",
                   "Gavel, Figure 11: entities with weights 1, 2, 3 that divide the cluster",
                   R"(title = "Gavel, Figure 11: entities with weights"
workload = "law:gavel:multi=false,types=true,tenants=3,together=true"
catalogue = "gavel"
rigid = true
interval = 360
clusters = "3:3:3"
seeds = [0, 1, 2]
vary = { jobs = [18, 36, 54] }
policies = ["shared:sharing=hierarchical/weights=t1=1|t2=2|t3=3", "shared:sharing=water-filling"]
reference = "shared:sharing=water-filling"
)"}));

}  // namespace
}  // namespace allot
