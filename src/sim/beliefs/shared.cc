// As online, but jobs of an application fit theirs together.

#include "sim/goodput_belief.h"

namespace allot {
namespace {

ALLOT_REGISTER(BeliefInfo,
               GoodputBeliefInfo("shared",
                                 "as online, but jobs of an application fit theirs together",
                                 TimingRegime::kShared, "2"));

}  // namespace
}  // namespace allot
