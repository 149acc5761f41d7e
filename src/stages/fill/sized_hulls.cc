#include "stages/fill/sized_hulls.h"

#include <algorithm>
#include <cmath>

#include "core/index.h"

namespace allot {

bool SizedHulls::Has(GpuCount gpus) const {
  return any() || std::binary_search(sizes_.begin(), sizes_.end(), gpus);
}

const std::vector<HullStep>& SizedHulls::Of(const ConfigurationTable& table, GpuTypeIndex type) {
  if (any()) return table.hull(type);
  std::vector<Known>& types = known_[&table];
  if (types.empty()) {
    // All at once: what was given out stays where it is.
    types.resize(At(*std::max_element(table.types().begin(), table.types().end())) + 1);
  }
  if (types.size() <= At(type)) return table.hull(type);
  Known& known = types[At(type)];
  if (known.fingerprint != table.fingerprint()) {
    known.fingerprint = table.fingerprint();
    Build(table, type, &known.steps);
  }
  return known.steps.empty() ? table.hull(type) : known.steps;
}

void SizedHulls::Build(const ConfigurationTable& table, GpuTypeIndex type,
                       std::vector<HullStep>* steps) {
  steps->clear();
  const auto cost = [&](std::int32_t i) { return i < 0 ? 0.0 : table[i].cost; };
  const auto rate = [&](std::int32_t i) { return i < 0 ? 0.0 : table[i].rate; };
  const auto slope = [&](std::int32_t a, std::int32_t b) {
    return (rate(b) - rate(a)) / (cost(b) - cost(a));
  };
  chain_.assign(1, -1);
  for (const GpuCount gpus : sizes_) {
    const UnitCounts units(gpus);
    const std::int32_t i = table.Find(units, type);
    if (i < 0 || !units.FitsIn(table.trusted()) || !table.Allocatable(i)) continue;
    if (rate(i) <= rate(chain_.back())) continue;
    while (chain_.size() > 1) {
      const std::int32_t top = chain_.back();
      // Slopes fall strictly, also as floats.
      if (slope(top, i) < slope(chain_[chain_.size() - 2], top) * (1 - 1e-6)) break;
      chain_.pop_back();
    }
    chain_.push_back(i);
  }
  Resources most;
  for (std::size_t i = 1; i < chain_.size(); ++i) {
    const Resources& demand = table[chain_[i]].demand;
    most = {std::max(most.gpus, demand.gpus), std::max(most.cpus, demand.cpus),
            std::max(most.memory_mb, demand.memory_mb)};
    HullStep step;
    step.from = chain_[i - 1];
    step.to = chain_[i];
    step.log_gain =
        static_cast<float>(std::log(slope(step.from, step.to) / table.reference_rate()));
    step.log_mid = static_cast<float>(
        std::log((rate(step.to) + rate(step.from)) / 2 / table.reference_rate()));
    step.cost = cost(step.to);
    step.most = most;
    step.unknown = table.UnknownOf(step.from, step.to);
    steps->push_back(step);
  }
}

}  // namespace allot
