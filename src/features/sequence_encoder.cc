#include "features/sequence_encoder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/index.h"
#include "length_model/remaining.h"
#include "stages/fill/increments.h"

namespace allot {
namespace {

// The larger of the shares of the cluster's GPUs and CPUs.
double DominantShare(const Resources& demand, const Resources& total) {
  const auto share = [](int part, int whole) {
    return whole > 0 ? static_cast<double>(part) / whole : 0.0;
  };
  return std::max(share(demand.gpus, total.gpus), share(demand.cpus, total.cpus));
}

// Rate won per cost from `from` (-1: nothing) to `to`, in units of the reference configuration's.
double Gain(const ConfigurationTable& table, std::int32_t from, std::int32_t to) {
  const double rate = from < 0 ? 0 : table[from].rate;
  const double cost = from < 0 ? 0 : table[from].cost;
  const double more = table[to].cost - cost;
  if (more <= 0) return 0;
  return (table[to].rate - rate) / more * table.reference_cost() / table.reference_rate();
}

// The best over configurations with no unit fewer; it lies on the hull or is not far from it.
double BestGain(const ConfigurationTable& table, std::int32_t from, GpuTypeIndex type) {
  double best = 0;
  for (const HullStep& step : table.hull(type)) {
    const bool larger = from < 0 || table[from].units.FitsIn(table[step.to].units);
    if (larger) best = std::max(best, Gain(table, from, step.to));
  }
  return best;
}

}  // namespace

SequenceEncoder::SequenceEncoder(SequenceFeatures set, std::vector<std::string> types, bool scaled,
                                 LengthModel lengths)
    : set_(set), types_(std::move(types)), scaled_(scaled), encoder_(std::move(lengths)) {}

int SequenceEncoder::job_features() const {
  return set_ == SequenceFeatures::kSpeed ? kSpeedJobFeatures
                                          : kDl2JobFeatures + static_cast<int>(types_.size());
}

int SequenceEncoder::context_features() const {
  return set_ == SequenceFeatures::kSpeed ? kSpeedContextFeatures : kDl2ContextFeatures;
}

void SequenceEncoder::Begin(const Observation& observation) {
  observation_ = &observation;
  if (set_ == SequenceFeatures::kSpeed) {
    encoder_.Encode(observation, &batch_);
  } else {
    encoder_.Observe(observation);
  }
}

void SequenceEncoder::EncodeWindow(const SequenceAction& state, int slots) {
  jobs_.assign(At(slots) * At(job_features()), 0.0F);
  for (int slot = 0; slot < std::min(slots, state.slots()); ++slot) EncodeJob(state, slot);
  EncodeContext(state);
}

void SequenceEncoder::Update(const SequenceAction& state, int slot) {
  EncodeJob(state, slot);
  EncodeContext(state);
}

void SequenceEncoder::EncodeJob(const SequenceAction& state, int slot) {
  const std::int32_t row = state.row_of(slot);
  float* x = jobs_.data() + At(slot) * At(job_features());
  if (set_ == SequenceFeatures::kDl2) {
    EncodeDl2(state, row, x);
    return;
  }
  std::copy_n(batch_.jobs.data() + At(row) * kJobFeatures, kJobFeatures, x);
  EncodeStanding(state, row, x + kJobFeatures);
}

void SequenceEncoder::EncodeDl2(const SequenceAction& state, std::int32_t row, float* x) const {
  const Observation& o = *observation_;
  const ConfigurationTable& table = *o.table[At(row)];
  for (std::size_t t = 0; t < types_.size(); ++t) {
    x[t] = types_[t] == table.name() ? 1.0F : 0.0F;
  }
  x += types_.size();
  const std::int32_t granted = state.granted(row);
  const double remaining = AssumedRemaining(o, row);
  const double slots = (o.now - o.submit[At(row)]) / o.interval;
  const Resources demand = granted < 0 ? Resources{} : table[granted].demand;
  const UnitCounts units = granted < 0 ? UnitCounts{} : table[granted].units;
  constexpr double kUsualSlots = 20;
  constexpr double kMostUnits = 16;
  x[0] = static_cast<float>(slots / (scaled_ ? kUsualSlots : 1));
  x[1] = static_cast<float>(remaining / (remaining + o.done_work[At(row)]));
  x[2] = static_cast<float>(DominantShare(demand, o.cluster->total()));
  x[3] = static_cast<float>(units.of(0) / (scaled_ ? kMostUnits : 1));
  x[4] = static_cast<float>(units.of(1) / (scaled_ ? kMostUnits : 1));
}

void SequenceEncoder::EncodeStanding(const SequenceAction& state, std::int32_t row,
                                     float* x) const {
  const Observation& o = *observation_;
  const ConfigurationTable& table = *o.table[At(row)];
  const std::int32_t granted = state.granted(row);
  const GpuTypeIndex type = granted < 0 ? table.types().front() : table[granted].gpu_type;
  const double rate = granted < 0 ? 0 : table[granted].rate;
  const double cost = granted < 0 ? 0 : table[granted].cost;
  const UnitCounts units = granted < 0 ? UnitCounts{} : table[granted].units;
  const Resources demand = granted < 0 ? Resources{} : table[granted].demand;
  const double best = BestGain(table, granted, type);
  x[0] = static_cast<float>(std::log1p(cost / table.reference_cost()));
  x[1] = static_cast<float>(rate / table.best_rate());
  x[2] = static_cast<float>(std::log(0.05 + std::max(0.0, rate) / table.reference_rate()));
  x[3] = static_cast<float>(std::log1p(units.of(0)));
  x[4] = static_cast<float>(std::log1p(units.of(1)));
  const bool single = table.kinds().size() == 1;
  for (int kind = 0; kind < SequenceAction::kKinds; ++kind) {
    const bool own = single ? kind == 0 : true;
    const std::int32_t next = own ? Grow(table, granted, kind, type) : -1;
    x[5 + kind] =
        next < 0 ? 0.0F : static_cast<float>(std::clamp(Gain(table, granted, next), -2.0, 4.0));
  }
  x[8] = static_cast<float>(std::min(best, 4.0));
  x[9] = static_cast<float>(std::log(std::clamp(best, 1e-3, 10.0)));
  x[10] = static_cast<float>(DominantShare(demand, o.cluster->total()));
}

void SequenceEncoder::EncodeContext(const SequenceAction& state) {
  const Observation& o = *observation_;
  context_.assign(At(context_features()), 0.0F);
  Resources free;
  for (std::size_t t = 0; t < o.cluster->types().size(); ++t) {
    free += state.free(static_cast<GpuTypeIndex>(t));
  }
  const Resources& total = o.cluster->total();
  const float gpus = static_cast<float>(free.gpus) / static_cast<float>(std::max(1, total.gpus));
  const float cpus = static_cast<float>(free.cpus) / static_cast<float>(std::max(1, total.cpus));
  if (set_ == SequenceFeatures::kDl2) {
    context_ = {gpus, cpus, static_cast<float>(o.rows()) / 20.0F};
    return;
  }
  std::copy_n(batch_.context.data() + 2 * kJobFeatures, kClusterFeatures, context_.data());
  context_[kClusterFeatures] = gpus;
  context_[kClusterFeatures + 1] = cpus;
}

}  // namespace allot
