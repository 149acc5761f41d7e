#pragma once
// What no schedule can beat: lower bounds on the sum of completion times, by leaving rules of the
// cluster out. Used for the lower bound on the mean JCT (sim/lower_bound.h) and as the value of
// the time after the horizon of LookaheadSimulation (sim/lookahead_simulation.h).
//
// Let C_i be the completion times of any schedule of the simulated cluster, and let job i
//   - do nothing before r_i (`release`), and end no sooner than e_i (`earliest`), its end when it
//     runs alone from r_i on in its fastest configuration;
//   - consume at least a_i (`area`) of a resource, in units x seconds: the least units per rate
//     over its configurations, times its work. Mixing configurations over time consumes no less,
//     restarts consume more.
// The cluster has `capacity` units of the resource.
//
// (1) sum C_i >= sum e_i: each term by itself.
// (2) sum C_i >= sum F_i, F the completion times of preemptive shortest-remaining-area-first on one
//     server that works off `capacity` area a second, jobs released at r_i. The cluster's schedule
//     is one for that server: at any moment the units held add up to at most `capacity`, and by
//     C_i job i has been given a_i, all of it after r_i. Among all schedules of one preemptive
//     server, processor sharing included, shortest remaining first has the least sum (Schrage,
//     Operations Research 16, 1968).
// (3) For any set B of jobs: sum C_i >= sum over B of F_i(B) + sum outside B of e_i, F(B) being (2)
//     with the jobs of B alone: taking jobs out of a schedule leaves a schedule of the others.
// (3) includes (1), B empty, and (2), B everybody. A few nested B are tried, each time without the
// jobs that would end later alone than in the fluid by more than they delay all behind them there;
// the largest sum is the bound.

#include <span>
#include <vector>

#include "core/types.h"

namespace allot {

struct RelaxedJob {
  Seconds release = 0;
  Seconds earliest = 0;  // >= release
  double area = 0;       // >= 0
};

// Bound (3) on the sum of the completion times. O(n log n) for n jobs.
double EndSumBound(std::span<const RelaxedJob> jobs, double capacity);

// The F_i of (2).
std::vector<Seconds> FluidEnds(std::span<const RelaxedJob> jobs, double capacity);

}  // namespace allot
