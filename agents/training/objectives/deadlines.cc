// Share of missed deadlines; jobs without one count by their JCT in weeks, a hundredth each, so
// that there is always something to gain.

#include "agents/training/objective.h"

namespace allot {
namespace {

constexpr Seconds kWeek = 7 * 86400.0;

ALLOT_REGISTER(ObjectiveInfo,
               (ObjectiveInfo{"deadlines", "share of missed deadlines, then mean JCT",
                              [](const Played& p) {
                                double missed = 0;
                                for (std::size_t i = 0; i < p.jct.size(); ++i) {
                                  const Job& job = p.scenario->workload().jobs[i];
                                  if (job.submit + p.jct[i] > job.deadline) missed += 1;
                                }
                                return missed / static_cast<double>(p.jct.size()) +
                                       0.01 * TrimmedMean(p.jct, 1) / kWeek;
                              }}));

}  // namespace
}  // namespace allot
