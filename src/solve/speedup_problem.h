#pragma once
// Pollux's decision (Qiao et al., "Pollux", OSDI'21, section 4.2) without observations: a row for
// every job, its GPUs on each node, such that the fitness, a power mean of the jobs' speedups, is
// largest:
//
//   x_j = speedup of the row x nodes / GPUs, x change_j where the row differs from the current one
//   fitness = (sum of (x_j + 1e-3)^p / jobs)^(1/p);  p = 0: the geometric mean
//
// As its artifact computes it. What a job adds depends on its own row only: rows are chosen apart
// but for the room on the nodes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace allot {

struct NodeGpus {
  std::int32_t node = 0;
  std::int32_t gpus = 0;  // > 0
  friend bool operator==(const NodeGpus&, const NodeGpus&) = default;
};
using JobRowGpus = std::vector<NodeGpus>;  // ascending by node

struct SpeedupProblem {
  struct Job {
    // By GPUs, [0] is not looked at: on one node, and on several. Equally long: the most GPUs it
    // may have are one less.
    std::vector<double> one;
    std::vector<double> several;
    double change = 1;  // of any row but the current one
    JobRowGpus current;

    std::int32_t most() const { return static_cast<std::int32_t>(one.size()) - 1; }
  };

  std::vector<std::int32_t> capacity;  // GPUs, by node
  std::vector<Job> jobs;               // whoever was served least first
  double power = -1;                   // p
  // Interference avoidance: no node has GPUs of two jobs that span several nodes.
  bool apart = true;

  std::int32_t gpus() const;  // of all nodes
};

// Throws DataError naming rule and both values.
void CheckSpeedupProblem(const SpeedupProblem& problem);

// What is to be least: the sum over jobs of these costs. They are -(x + 1e-3)^p for p > 0,
// -ln(x + 1e-3) for p = 0, (x + 1e-3)^p for p < 0.
class RowCosts {
 public:
  explicit RowCosts(const SpeedupProblem& problem);

  double Idle() const { return idle_; }
  double Keep(std::size_t job) const { return keep_[job]; }  // its current row, also an empty one
  double Changed(std::size_t job, std::int32_t gpus, bool several_nodes) const;
  double Of(std::size_t job, const JobRowGpus& row) const;
  double FitnessOf(double sum_of_costs) const;

 private:
  double Cost(double speedup, double factor) const;

  const SpeedupProblem& problem_;
  double scale_;
  double idle_;
  std::vector<double> keep_;
};

double Fitness(const SpeedupProblem& problem, std::span<const JobRowGpus> rows);
// The second objective of the artifact's search: sum of speedups over the GPUs of nodes in use.
double Utility(const SpeedupProblem& problem, std::span<const JobRowGpus> rows);
// Whether rows keep to the nodes' GPUs, to what each job may have, and apart where they must.
bool RowsFit(const SpeedupProblem& problem, std::span<const JobRowGpus> rows);

}  // namespace allot
