// The 99th percentile of the job completion times.

#include <algorithm>

#include "agents/training/objective.h"

namespace allot {
namespace {

ALLOT_REGISTER(ObjectiveInfo, (ObjectiveInfo{"p99", "99th percentile of JCT", [](const Played& p) {
                                               std::vector<double> jct = p.jct;
                                               const auto at =
                                                   jct.begin() + static_cast<std::ptrdiff_t>(
                                                                     (jct.size() - 1) * 99 / 100);
                                               std::nth_element(jct.begin(), at, jct.end());
                                               return *at;
                                             }}));

}  // namespace
}  // namespace allot
