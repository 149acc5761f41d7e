#include "stages/lateness.h"

#include <algorithm>

#include "core/index.h"

namespace allot {
namespace {

// The hull of (cost, rate) at this cost; beyond its end the rate there.
double HullRate(const ConfigurationTable& table, GpuTypeIndex type, double cost) {
  double rate = 0;
  double from = 0;
  for (const HullStep& step : table.hull(type)) {
    const double to = table[step.to].rate;
    if (cost <= step.cost) return rate + (to - rate) * (cost - from) / (step.cost - from);
    rate = to;
    from = step.cost;
  }
  return rate;
}

// Work per second of one of so many jobs: as many GPUs as its part of all types together, for as
// much of its time on each type as that has GPUs.
double DividedRate(const Observation& o, std::size_t row, double jobs) {
  const ConfigurationTable& table = *o.table[row];
  const double all = o.cluster->total().gpus;
  double rate = 0;
  for (const GpuTypeIndex type : table.types()) {
    if (table.hull(type).empty()) continue;
    const Configuration& least = table[table.hull(type).front().to];
    const double cost = all / jobs * least.cost / std::max(1, least.demand.gpus);
    rate += o.cluster->total_of(type).gpus / all * HullRate(table, type, cost);
  }
  return rate;
}

}  // namespace

void Lateness::Observe(const Observation& o, std::span<const double> left) {
  ratios_.clear();
  const auto jobs = static_cast<double>(o.job.size());
  for (std::size_t row = 0; row < o.job.size(); ++row) {
    if (At(o.job[row]) >= jobs_.size()) jobs_.resize(At(o.job[row]) + 1);
    Job& job = jobs_[At(o.job[row])];
    const Seconds since = job.seen == kNever ? o.submit[row] : job.seen;
    job.seen = o.now;
    if (o.cluster->total().gpus > 0) job.even += (o.now - since) * DividedRate(o, row, jobs);
    const double first = kFirst * o.interval * o.table[row]->reference_rate();
    const double c = std::max(first, kShare * (o.done_work[row] + left[row]));
    ratios_.push_back((job.even + c) / (o.done_work[row] + c));
  }
}

}  // namespace allot
