#include "stages/rounds/even_progress.h"

#include <algorithm>

#include "core/index.h"
#include "length_model/remaining.h"

namespace allot {
namespace {

// Work per second on an even division among so many jobs.
double EvenRate(const Observation& o, std::size_t row, double jobs) {
  const ConfigurationTable& table = *o.table[row];
  const UnitCounts& units = table[o.requested[row]].units;
  const double own = std::max(1, table[o.requested[row]].demand.gpus);
  double rate = 0;
  double shares = 0;  // of its time, over all types
  for (std::size_t t = 0; t < o.cluster->types().size(); ++t) {
    const auto type = static_cast<GpuTypeIndex>(t);
    const double share = o.cluster->total_of(type).gpus / jobs / own;
    shares += share;
    if (const std::int32_t c = table.Find(units, type); c >= 0) {
      rate += share * std::max(0.0, table[c].rate);
    }
  }
  return rate / std::max(1.0, shares);
}

}  // namespace

void EvenProgress::OnEpisodeStart() { jobs_.clear(); }

void EvenProgress::Observe(const Observation& o) {
  behind_.clear();
  for (std::size_t row = 0; row < o.job.size(); ++row) {
    if (At(o.job[row]) >= jobs_.size()) jobs_.resize(At(o.job[row]) + 1);
    Job& job = jobs_[At(o.job[row])];
    const double work = o.done_work[row] + AssumedRemaining(o, static_cast<std::int32_t>(row));
    const Seconds since = job.seen == kNever ? o.submit[row] : job.seen;
    job.seen = o.now;
    job.even += (o.now - since) * EvenRate(o, row, static_cast<double>(o.job.size())) / work;
    behind_.push_back(job.even - o.done_work[row] / work);
  }
}

}  // namespace allot
