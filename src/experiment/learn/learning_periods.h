#pragma once
// How 'allot learn' divides a trace in time, so that nothing is judged on jobs that it was made
// from: the first half is learned from, the next fifth chooses between candidates, and the rest is
// the test. Shares are of jobs, not of time, because arrivals are uneven.

#include <string>
#include <vector>

#include "workload/workload.h"

namespace allot {

// Times of submission, in seconds from the origin of the trace, ascending.
struct LearningPeriods {
  Seconds begin = 0;
  Seconds tuning = 0;      // numbers are tuned from here, with the lengths of the jobs before
  Seconds validation = 0;  // the end of what is learned from
  Seconds test = 0;
  Seconds end = 0;

  bool divided() const { return test > begin; }  // else all of it is the test
};

// Undivided where [from, to) has fewer than kFewestToLearn jobs, or where too many of them come at
// one time for each part to have some. DataError where it has none.
inline constexpr int kFewestToLearn = 40;
LearningPeriods DivideForLearning(const Workload& trace, Seconds from, Seconds to);

// The bounds of `windows` consecutive windows of [from, to) with equal numbers of jobs; fewer
// windows where many jobs come at one time. At least two bounds.
std::vector<Seconds> WindowBounds(const Workload& trace, Seconds from, Seconds to, int windows);

}  // namespace allot
