#pragma once
// The multiple-choice knapsack problem with a few capacities (Kellerer, Pferschy, Pisinger,
// "Knapsack Problems", 2004, chapter 11): each job has one of its options or none, such that the
// GPUs of no type are exceeded and the sum of gains is largest. Sizes by speedup (Pollux) are the
// case of one type, Sia's integer program that of several.
//
// Prices of GPUs come from the Lagrangian dual: Newton's method on its smoothed form (by bisection
// for one type). At prices, an option falls short of its job's best by what it gains less; a
// solution is off the bound by all that falls short plus the price of free GPUs. Sets of options
// that fall short by at most x in sum are enumerated, equal uses of GPUs merged, for growing x: the
// first solution found within x is the best. With few jobs or tight capacities that is quick, as
// few options come near.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace allot {

inline constexpr std::size_t kMostChoiceTypes = 8;

struct ChoiceOption {
  std::int32_t type = 0;
  std::int32_t gpus = 0;  // > 0
  double gain = 0;        // of the whole job over waiting; finite; of what is not > 0 nobody has it
};

struct MultipleChoiceProblem {
  std::vector<std::int32_t> capacity;    // GPUs, by type
  std::vector<ChoiceOption> options;     // of all jobs, one job after the other
  std::vector<std::size_t> first = {0};  // options of job i: first[i] to first[i + 1]

  std::size_t jobs() const { return first.size() - 1; }
  std::span<const ChoiceOption> of(std::size_t job) const {
    return std::span(options).subspan(first[job], first[job + 1] - first[job]);
  }
  void Add(std::span<const ChoiceOption> job) {
    options.insert(options.end(), job.begin(), job.end());
    first.push_back(options.size());
  }
};

struct MultipleChoiceAnswer {
  std::vector<std::int32_t> chosen;  // by job: which of its options, -1: it waits
  double gain = 0;                   // the sum
  double bound = 0;                  // no solution has a larger one
  std::vector<double> prices;        // of a GPU, by type
  bool proved = false;               // gain is within the tolerance of the best
};

// `tolerance`: relative to the sum of gains. `most_labels`: of partial solutions that the
// enumeration may look at; beyond, the best one known is the answer and `proved` says whether it is
// good enough. Equal problems get equal answers. DataError for options that break a rule.
MultipleChoiceAnswer SolveMultipleChoice(const MultipleChoiceProblem& problem,
                                         double tolerance = 1e-9,
                                         std::size_t most_labels = 4'000'000);

}  // namespace allot
