#pragma once
// Sia's decision (Jayaram Subramanya et al., "Sia: Heterogeneity-aware, goodput-optimized
// ML-cluster scheduling", SOSP'23, section 3.4) without observations: every job has at most one of
// its configurations, such that
//
//   sum over who runs of cost + unserved x (number of jobs that wait)
//
// is least, cost = (value x factor)^power, the factor being 1 for jobs that wait and where a job
// runs already; for a positive power cost is the negative of that. Solved exactly as a
// multiple-choice problem (solve/multiple_choice.h), where the paper calls a mixed-integer solver.

#include <cstdint>
#include <vector>

namespace allot {

struct SiaProblem {
  struct Option {
    std::int32_t type = 0;
    std::int32_t gpus = 0;  // > 0
    double value = 0;       // goodput over the job's least one; <= 0: it cannot run so
  };
  struct Job {
    std::vector<Option> options;
    double factor = 1;          // of a running job's other options: what a restart leaves
    std::int32_t current = -1;  // among the options; -1: it does not run
    bool pinned = false;        // it stays as it is
  };

  std::vector<std::int32_t> capacity;  // GPUs, by type
  std::vector<Job> jobs;
  double power = -0.5;
  double unserved = 1.1;
  std::int32_t decimals = 2;  // to which powers are rounded, as in the artifact; -1: they are not
  double most = 3000;         // powers above are this
};

struct SiaAnswer {
  std::vector<std::int32_t> chosen;  // by job: which of its options, -1: it waits
  double objective = 0;
  double bound = 0;     // no answer has a lower objective
  bool proved = false;  // the objective is the least, to the tolerance
};

// Of one option of a job.
double SiaCost(const SiaProblem& problem, const SiaProblem::Job& job, std::int32_t option);
double SiaObjective(const SiaProblem& problem, const std::vector<std::int32_t>& chosen);

// `tolerance`: relative to the objective (the artifact's solver stops at 1e-4). DataError where a
// pinned job does not run, or pinned jobs hold more GPUs than there are.
SiaAnswer SolveSia(const SiaProblem& problem, double tolerance = 1e-4);

}  // namespace allot
