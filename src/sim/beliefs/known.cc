// Iteration times of applications are fitted before anybody runs.

#include "sim/goodput_belief.h"

namespace allot {
namespace {

ALLOT_REGISTER(BeliefInfo,
               GoodputBeliefInfo("known",
                                 "iteration times of applications are fitted before anybody runs",
                                 TimingRegime::kKnown, "0"));

}  // namespace
}  // namespace allot
