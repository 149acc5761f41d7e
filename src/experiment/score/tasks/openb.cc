// Alibaba's openb (Weng et al., ATC 2023): rigid jobs on six GPU types. Most of its pods come in
// the last 33 of 149 days.

#include "experiment/score/task_families.h"

namespace allot {
namespace {

ALLOT_REGISTER(ScoreTask,
               RigidTask("Openb-v1",
                         "Alibaba openb, rigid jobs on six GPU types, noisy estimates of lengths",
                         "embedded-openb",
                         {"from=115d,to=126d,random-start=true,span=7d",
                          "from=126d,to=132d,span=6d", "from=132d,span=7d"},
                         "cluster=1x8:G2|1x8:G3|1x2:T4|1x1:P100|1x1:V100M16|1x4:V100M32,loads=0.4,"
                         "lengths=noisy:0.5",
                         "index:alpha=0.25,beta=0.3,kappa=0.3"));

}  // namespace
}  // namespace allot
