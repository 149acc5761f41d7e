// Mean JCT and its spread over the jobs' own lengths: the geometric mean of the mean JCT and the
// mean of the 5 % largest ratios of JCT to trace duration (finish-time fairness in the sense of
// Themis, Mahajan et al., NSDI'20, with the trace's run as the fair share).

#include <algorithm>
#include <cmath>

#include "agents/training/objective.h"

namespace allot {
namespace {

constexpr Seconds kShortestJob = 600;  // below, a ratio says little
constexpr std::size_t kPart = 20;

double WorstRatios(const Played& p) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < p.jct.size(); ++i) {
    ratios.push_back(-p.jct[i] / std::max(kShortestJob, p.scenario->workload().jobs[i].duration));
  }
  return -TrimmedMean(std::move(ratios), 1.0 / kPart);
}

ALLOT_REGISTER(ObjectiveInfo,
               (ObjectiveInfo{"fairness", "mean JCT and the worst 5 % of JCT / length, both",
                              [](const Played& p) {
                                return std::sqrt(TrimmedMean(p.jct, 1) * WorstRatios(p));
                              }}));

}  // namespace
}  // namespace allot
