#pragma once
// A lower bound on the mean JCT of a scenario: no policy, oracle or not, can have a smaller one
// when all jobs finish. For the tables of `compare --bounds`.
//
// The bounds of sim/relaxation.h, (1) to (3), on sum C_i - sum submit_i, with
//   release   the first decision at or after the submission (jobs are placed by decisions alone);
//   earliest  release + work / best rate, and with whole intervals the scheduled instant after;
//   area      of GPUs, and of CPUs: a unit of either counts 1 whatever its node's type. With
//             several GPU types also of GPUs weighted by their type: any weights give a valid
//             resource (area and capacity are weighted alike), here the mean over the jobs of a
//             type's best rate per GPU relative to the job's best type.
// The largest over these resources, divided by the number of jobs. Exact for a job that is alone
// and gets its fastest configuration; loose where jobs do not pack.

#include "sim/scenario.h"

namespace allot {

struct LowerBound {
  Seconds mean_jct = 0;  // the largest of all
  Seconds alone = 0;     // (1) alone: every job at its best configuration for its whole life
  Seconds fluid = 0;     // (2) alone, the largest over the resources
};

LowerBound MeanJctBound(const Scenario& scenario);

// Least units of a resource per unit of work, with weights by GPU type for a GPU and for a CPU.
struct ResourceWeights {
  std::vector<double> gpu;
  std::vector<double> cpu;
};
double LeastAreaPerWork(const ConfigurationTable& table, const ResourceWeights& weights);

}  // namespace allot
