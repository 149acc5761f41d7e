#pragma once
// The order in which a policy would start the jobs of a queue, under a rule of fairness, and what
// it is worth.
//
// The rule: the scheduler decides whose turn it is, and the policy which of that user's jobs goes.
// Each user keeps the places that his jobs have in the scheduler's own order, so that its
// priorities and shares among users stay as they are. Jobs that are left alone keep their Nice, and
// so a job is exchanged only with those between which none of these stands, and which a Nice can
// reach. What the bounds still prevent is found before it is judged: the estimate is that of the
// order which the Nice values give. An order by which some user's mean wait would be more than
// kLongestWait times as long, or that of all jobs longer, is not advised.
//
// Waits are estimates: a simulation of this queue, without further arrivals, in which each job
// takes the median of what the length model expects of it (its time limit, and the past of its
// user), and GPUs alone are scarce. The scheduler is simulated as AdvisedQueue::scheduler says.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "advice/advised_queue.h"
#include "sched/policy.h"

namespace allot {

inline constexpr double kLongestWait = 1.1;  // of a user's mean, relative to the scheduler's order

// Estimates.
struct JobWait {
  Seconds own = kUnknown;  // in the scheduler's own order; kUnknown: it is not simulated
  Seconds advised = kUnknown;
};

struct MeanWait {
  int jobs = 0;
  Seconds own = 0;
  Seconds advised = 0;
};

struct AdvisedOrder {
  // The jobs of the queue that may be advised, as indices of AdvisedQueue::waiting.
  std::vector<std::size_t> own;      // in the scheduler's order without any Nice
  std::vector<std::size_t> advised;  // equal to `own` if `refused` is set
  std::vector<int> nice;             // by index of AdvisedQueue::waiting, which gives it
  std::string refused;               // why the policy's order is not advised; "": it is
  std::vector<JobWait> waits;        // by index of AdvisedQueue::waiting
  // Of jobs that compete for GPUs, by user and of all. A job that does not start in the simulated
  // time counts as one that starts at its end.
  std::map<std::string, MeanWait> by_user;
  MeanWait all;
};

// The jobs in the scheduler's order, each user's jobs exchanged so that they come by `rank` (by
// index of AdvisedQueue::waiting, the smallest first; equal ones as they are), as far as jobs that
// are left alone and Nice values of at most `most` let them.
std::vector<std::size_t> ExchangeWithinUsers(const AdvisedQueue& queue,
                                             std::span<const std::size_t> own,
                                             std::span<const double> rank, int most);

// `past`: of AdviceTarget::Past. No Nice exceeds `most`. RunError if the policy breaks a rule.
AdvisedOrder OrderQueue(const AdvisedQueue& queue, Seconds now, const Workload& past,
                        Policy& policy, int most);

}  // namespace allot
