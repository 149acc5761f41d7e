#include "stages/fill/type_values.h"

#include <algorithm>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

constexpr double kHolds = 1 + 1e-7;  // a tie goes to what is there

}  // namespace

ParamSpec PaysWithinParam() {
  return {"pays-within", "120",
          "a change of type must pay for its restart within so many times its cost; 0: at once", 0,
          1e9};
}

TypeValues::TypeValues(double pays_within) {
  if (pays_within == 0) return;
  if (!(pays_within > 1)) {
    throw UsageError("pays-within must be 0 or above 1, got {}", pays_within);
  }
  pays_ = pays_within / (pays_within - 1);
}

void TypeValues::Read(const Observation& o, const TypeQuestion& question) {
  const std::size_t jobs = question.order.size();
  capacity_.clear();
  for (std::size_t t = 0; t < o.cluster->types().size(); ++t) {
    capacity_.push_back(o.cluster->total_of(static_cast<GpuTypeIndex>(t)).gpus);
  }
  gpus_.resize(jobs);
  values_.assign(jobs * capacity_.size(), 0);
  stay_.assign(jobs, 1);
  facts_.Read(o, question.order);
  for (std::size_t i = 0; i < jobs; ++i) Value(o, question, i);
}

void TypeValues::Value(const Observation& o, const TypeQuestion& question, std::size_t place) {
  const auto row = At(question.order[place]);
  const TableFacts::AtSize& size = facts_.At(place, question.sizes[place]);
  gpus_[place] = std::max(1, size.gpus);
  if (!(size.best > 0)) return;
  double* const values = &values_[place * capacity_.size()];
  const double weight = question.weights.empty() ? 1 : question.weights[place];
  const std::span<const double> rates = facts_.rates(place);
  for (std::size_t t = 0; t < rates.size(); ++t) values[t] = rates[t] * (weight / size.best);
  const std::int32_t running = o.running[row];
  if (running < 0) return;
  stay_[place] = kHolds * (o.restart_cost[row] > 0 ? pays_ : 1);
  const auto now = At(facts_.TypeOf(place, running));
  values[now] *= stay_[place];
  if (question.moves || values[now] == 0) return;
  for (std::size_t t = 0; t < capacity_.size(); ++t) {
    if (t != now) values[t] = 0;
  }
}

}  // namespace allot
