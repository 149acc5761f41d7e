// Jobs that train applications fit their own iteration times (Pollux).

#include "sim/goodput_belief.h"

namespace allot {
namespace {

ALLOT_REGISTER(BeliefInfo,
               GoodputBeliefInfo(
                   "online", "jobs that train applications fit their own iteration times (Pollux)",
                   TimingRegime::kOnline, "2"));

}  // namespace
}  // namespace allot
