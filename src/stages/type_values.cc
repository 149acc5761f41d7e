#include "stages/type_values.h"

#include <algorithm>

#include "core/index.h"

namespace allot {
namespace {

constexpr double kHolds = 1 + 1e-7;  // a tie goes to what is there
constexpr double kMostStay = 100;

}  // namespace

void TypeValues::Read(const Observation& o, const TypeQuestion& question) {
  const std::size_t jobs = question.order.size();
  capacity_.clear();
  for (std::size_t t = 0; t < o.cluster->types().size(); ++t) {
    capacity_.push_back(o.cluster->total_of(static_cast<GpuTypeIndex>(t)).gpus);
  }
  gpus_.resize(jobs);
  values_.assign(jobs * capacity_.size(), 0);
  stay_.assign(jobs, 1);
  for (std::size_t i = 0; i < jobs; ++i) Value(o, question, i);
}

void TypeValues::Value(const Observation& o, const TypeQuestion& question, std::size_t place) {
  const auto row = At(question.order[place]);
  const ConfigurationTable& table = *o.table[row];
  const std::int32_t size = question.sizes[place];
  gpus_[place] = std::max(1, table[size].demand.gpus);
  double* const values = &values_[place * capacity_.size()];
  double best = 0;
  for (const GpuTypeIndex type : table.types()) {
    const std::int32_t there = table.OnType(size, type);
    if (there < 0 || !(table[there].rate > 0)) continue;
    values[type] = table[there].rate;
    best = std::max(best, values[type]);
  }
  if (!(best > 0)) return;
  const double weight = question.weights.empty() ? 1 : question.weights[place];
  for (std::size_t t = 0; t < capacity_.size(); ++t) values[t] *= weight / best;
  const std::int32_t running = o.running[row];
  if (running < 0) return;
  const Seconds left = pays_within_ - o.restart_cost[row];
  stay_[place] = kHolds;
  if (pays_within_ > 0) {
    stay_[place] *= left > 0 ? std::min(kMostStay, pays_within_ / left) : kMostStay;
  }
  const auto now = At(table[running].gpu_type);
  values[now] *= stay_[place];
  if (question.moves || values[now] == 0) return;
  for (std::size_t t = 0; t < capacity_.size(); ++t) {
    if (t != now) values[t] = 0;
  }
}

}  // namespace allot
