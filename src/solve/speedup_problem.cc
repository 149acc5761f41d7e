#include "solve/speedup_problem.h"

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

constexpr double kSmall = 1e-3;  // so that a job without GPUs does not make the mean 0

std::int32_t GpusOf(const JobRowGpus& row) {
  std::int32_t gpus = 0;
  for (const NodeGpus& share : row) gpus += share.gpus;
  return gpus;
}

double SpeedupOf(const SpeedupProblem::Job& job, const JobRowGpus& row) {
  if (row.empty()) return 0;
  return (row.size() > 1 ? job.several : job.one)[At(GpusOf(row))];
}

}  // namespace

std::int32_t SpeedupProblem::gpus() const {
  return std::accumulate(capacity.begin(), capacity.end(), 0);
}

void CheckSpeedupProblem(const SpeedupProblem& problem) {
  for (std::size_t n = 0; n < problem.capacity.size(); ++n) {
    if (problem.capacity[n] < 0) {
      throw DataError("a node has at least 0 GPUs, got {} (node {})", problem.capacity[n], n);
    }
  }
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    const SpeedupProblem::Job& job = problem.jobs[j];
    if (job.one.size() != job.several.size() || job.one.empty()) {
      throw DataError(
          "a job has as many speedups on one node as on several, at least one, got {} and {} (job "
          "{})",
          job.one.size(), job.several.size(), j);
    }
    for (std::size_t k = 1; k < job.one.size(); ++k) {
      const bool good = job.one[k] >= 0 && job.several[k] >= 0 && std::isfinite(job.one[k]) &&
                        std::isfinite(job.several[k]);
      if (good) continue;
      throw DataError("a speedup is finite and at least 0, got {} and {} (job {}, {} GPUs)",
                      job.one[k], job.several[k], j, k);
    }
    std::int32_t before = -1;
    for (const NodeGpus& share : job.current) {
      const bool known = share.node > before && At(share.node) < problem.capacity.size();
      if (!known || share.gpus <= 0) {
        throw DataError(
            "a row has GPUs on nodes below {} in ascending order, got {} GPUs on node {} after "
            "node {} (job {})",
            problem.capacity.size(), share.gpus, share.node, before, j);
      }
      before = share.node;
    }
  }
}

RowCosts::RowCosts(const SpeedupProblem& problem)
    : problem_(problem),
      scale_(static_cast<double>(problem.capacity.size()) / problem.gpus()),
      idle_(Cost(0, 1)) {
  keep_.reserve(problem.jobs.size());
  for (const SpeedupProblem::Job& job : problem.jobs) {
    // More than it may have now: it cannot stay.
    const bool may_stay = GpusOf(job.current) <= job.most();
    keep_.push_back(may_stay ? Cost(SpeedupOf(job, job.current), 1) : idle_);
  }
}

double RowCosts::Cost(double speedup, double factor) const {
  const double x = speedup * scale_ * factor + kSmall;
  const double p = problem_.power;
  if (p == -1) return 1 / x;
  if (p == 0) return -std::log(x);
  return p > 0 ? -std::pow(x, p) : std::pow(x, p);
}

double RowCosts::Changed(std::size_t job, std::int32_t gpus, bool several_nodes) const {
  const SpeedupProblem::Job& of = problem_.jobs[job];
  return Cost((several_nodes ? of.several : of.one)[At(gpus)], of.change);
}

double RowCosts::Of(std::size_t job, const JobRowGpus& row) const {
  if (row == problem_.jobs[job].current) return keep_[job];
  return row.empty() ? idle_ : Changed(job, GpusOf(row), row.size() > 1);
}

double RowCosts::FitnessOf(double sum_of_costs) const {
  const double p = problem_.power;
  const double mean = sum_of_costs / static_cast<double>(problem_.jobs.size());
  if (p == 0) return std::exp(-mean);
  return std::pow(p > 0 ? -mean : mean, 1 / p);
}

double Fitness(const SpeedupProblem& problem, std::span<const JobRowGpus> rows) {
  const RowCosts costs(problem);
  double sum = 0;
  for (std::size_t job = 0; job < rows.size(); ++job) sum += costs.Of(job, rows[job]);
  return costs.FitnessOf(sum);
}

double Utility(const SpeedupProblem& problem, std::span<const JobRowGpus> rows) {
  double speedups = 0;
  std::vector<char> used(problem.capacity.size(), 0);
  for (std::size_t job = 0; job < rows.size(); ++job) {
    speedups += SpeedupOf(problem.jobs[job], rows[job]);
    for (const NodeGpus& share : rows[job]) used[At(share.node)] = 1;
  }
  std::int32_t gpus = 0;
  for (std::size_t n = 0; n < used.size(); ++n) gpus += used[n] != 0 ? problem.capacity[n] : 0;
  return gpus > 0 ? speedups / gpus : 0;
}

bool RowsFit(const SpeedupProblem& problem, std::span<const JobRowGpus> rows) {
  std::vector<std::int32_t> free = problem.capacity;
  std::vector<char> taken(free.size(), 0);
  if (rows.size() != problem.jobs.size()) return false;
  for (std::size_t job = 0; job < rows.size(); ++job) {
    if (GpusOf(rows[job]) > problem.jobs[job].most()) return false;
    for (const NodeGpus& share : rows[job]) {
      const std::size_t node = At(share.node);
      free[node] -= share.gpus;
      if (share.gpus <= 0 || free[node] < 0) return false;
      if (rows[job].size() < 2 || !problem.apart) continue;
      if (taken[node] != 0) return false;
      taken[node] = 1;
    }
  }
  return true;
}

}  // namespace allot
