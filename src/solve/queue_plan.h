#pragma once
// Queues of jobs on machines of several types such that the sum of their finish times is least
// (Le et al., AlloX, EuroSys'20): a job that stands k-th from the end of its machine's queue delays
// k jobs, itself included, by its time there. That is an assignment of jobs to (type, k), each
// taken at most once a machine, solved exactly by shortest augmenting paths (Jonker, Volgenant,
// Computing 38, 1987) over types instead of machines.

#include <cstdint>
#include <span>
#include <vector>

namespace allot {

struct QueuePlan {
  std::vector<std::int32_t> type;      // by job
  std::vector<std::int32_t> from_end;  // by job: 1 is last
  double cost = 0;                     // sum over jobs of from_end x time
  // Jobs that begin at once: the first of every machine's queue. Ascending.
  std::vector<std::int32_t> first;
};

// `machines` by type, free ones; at least one. `seconds`: [job][type], > 0; infinite where the job
// does not run, but finite for some type with a machine. DataError for what breaks that. Equal
// problems get equal answers; of jobs that stand equally far from the end, earlier ones begin
// first. O(jobs^2 x places) at most, places = types x longest queue.
QueuePlan PlanQueues(std::span<const std::int32_t> machines, std::span<const double> seconds);

// The same for jobs that take several machines of a type at once, which is no assignment any more:
// shortest work (seconds x machines on the fastest type) first, each where it ends first. Types
// with fewer machines than a job takes do not run it. Who begins at once is in `first`; `from_end`
// stays empty, `cost` is the sum of ends; a job that fits no type has type -1.
QueuePlan PlanGangs(std::span<const std::int32_t> machines, std::span<const double> seconds,
                    std::span<const std::int32_t> takes);

}  // namespace allot
