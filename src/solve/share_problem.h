#pragma once
// How jobs share GPU types over time: the throughput matrix of Gavel (Narayanan et al., OSDI'20,
// section 3) and the problems that its policies solve over it. Each function answers the fraction
// of time that each job runs on each type; a job's fractions sum to at most 1, and the GPUs of all
// of them to at most what each type has.
//
//   theta_i = sum over types of rate_ig x_ig, the work per second that job i gets
//   even_i  = sum over types of rate_ig capacity_g / (sum of capacities), what an even division of
//             time over all GPUs would give it ("proportional" at the peer)
//
// Equal jobs (same rates, GPUs, weight, and what else a problem reads of them) get equal shares and
// count as one block, so that the cost goes by the number of different ones.
//
// DataError naming rule, value and job for: a capacity, rate or weight that is not finite or
// negative, a job without GPUs, a weight of 0, and a job that can run on no type.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace allot {

struct ShareProblem {
  std::vector<double> capacity;  // GPUs by type
  std::vector<double> gpus;      // by job, of one type at a time; > 0
  std::vector<double> weight;    // by job, > 0: twice the weight, twice the claim
  std::vector<double> rate;      // [job][type], work per second; 0: does not run there

  std::size_t types() const { return capacity.size(); }
  std::size_t jobs() const { return gpus.size(); }
  std::span<const double> rates(std::size_t job) const {
    return std::span(rate).subspan(job * types(), types());
  }
  // The job that is added has these rates (one a type).
  void Add(double job_gpus, double job_weight, std::span<const double> job_rates) {
    gpus.push_back(job_gpus);
    weight.push_back(job_weight);
    rate.insert(rate.end(), job_rates.begin(), job_rates.end());
  }
};

struct Shares {
  bool feasible = true;    // false: what was asked cannot hold together; `of` is empty
  std::vector<double> of;  // [job][type]
  double objective = 0;    // of these shares, as the function says
};

void CheckShareProblem(const ShareProblem& problem);

std::vector<double> EvenRates(const ShareProblem& problem);  // even_i
std::vector<double> RatesOf(const ShareProblem& problem, std::span<const double> shares);

// max-min: the largest least gpus_i theta_i / (weight_i even_i) (section 4.1). Objective: that.
Shares MaxMinShares(const ShareProblem& problem);

// The largest sum of gain_ig x_ig (gain: [job][type], of the job) such that theta_i >= need_i
// (`need` by job, empty: none). Objective: the sum; where the needs cannot hold together, not
// feasible, and the largest part of all of them that can.
Shares MaxSumShares(const ShareProblem& problem, std::span<const double> gain,
                    std::span<const double> need = {});

// The shortest time in which all work (by job, > 0) can be done at constant shares (section 4.2);
// objective: that, in seconds. One linear problem.
Shares MakespanShares(const ShareProblem& problem, std::span<const double> work);
// Any shares that do it within so many seconds: those in the middle of what is possible.
Shares SharesWithin(const ShareProblem& problem, std::span<const double> work, double seconds);
// What the peer's bisection between 100 s and 1e6 s returns for a shortest time, up to 5 % more.
double BisectedMakespan(double shortest);

// Finish-time fairness (section 4.2, after Themis, NSDI'20): the least largest of (elapsed_i +
// work_i / theta_i) / (alone_i + work_i / isolated_i), where isolated_i is the rate of EvenShares
// and alone_i the seconds that what is done would have taken at such rates. All by job; work > 0.
// Objective: that ratio.
Shares FinishTimeShares(const ShareProblem& problem, std::span<const double> work,
                        std::span<const double> elapsed, std::span<const double> alone);

// Of m jobs each gets every type for capacity / m / gpus of the time, less where that would be more
// than all of it ("isolated"). Types with rate 0 included. Objective: 0.
Shares EvenShares(const ShareProblem& problem);

// First come, first served: each job in turn takes the fastest type that has its GPUs left, for
// all time. The first that finds none ends it; one that finds GPUs, but only of types on which it
// does not run, is passed over (as at the peer). Objective: jobs that run.
Shares FirstComeShares(const ShareProblem& problem);

}  // namespace allot
