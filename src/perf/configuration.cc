#include "perf/configuration.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

// Slopes closer than this count as equal, so that gains fall strictly in float as well.
constexpr double kSlopeTolerance = 1e-6;

}  // namespace

ConfigurationTable::ConfigurationTable(std::string name, std::vector<UnitKind> kinds,
                                       std::vector<Configuration> configurations, UnitCounts limits)
    : name_(std::move(name)),
      kinds_(std::move(kinds)),
      configurations_(std::move(configurations)),
      limits_(limits) {
  ALLOT_CHECK(!configurations_.empty());
  ALLOT_CHECK_LE(kinds_.size(), static_cast<std::size_t>(kMaxUnitKinds));
  std::sort(configurations_.begin(), configurations_.end(),
            [](const Configuration& a, const Configuration& b) {
              return std::tie(a.gpu_type, a.cost, a.rate, a.units) <
                     std::tie(b.gpu_type, b.cost, b.rate, b.units);
            });
  for (std::int32_t i = 0; i < size(); ++i) {
    const Configuration& c = (*this)[i];
    ALLOT_CHECK(std::isfinite(c.rate));
    ALLOT_CHECK_GT(c.cost, 0.0);
    ALLOT_CHECK_GE(c.gpu_type, 0);
    if (!Useful(i)) continue;
    best_rate_ = std::max(best_rate_, c.rate);
    best_efficiency_ = std::max(best_efficiency_, c.rate / c.cost);
  }
  ALLOT_CHECK_GT(best_rate_, 0.0);
  IndexByUnits();
  for (std::size_t kind = 0; kind < limits_.size(); ++kind) {
    limits_[kind] = std::min(limits_[kind], most_units_[kind]);
  }
  OrderTypes();
  for (const GpuTypeIndex type : types_) BuildHull(type);
  OrderBySpeed();
  max_hull_cost_ = (*this)[hull(types_.front()).back().to].cost;
}

void ConfigurationTable::IndexByUnits() {
  GpuTypeIndex types = 0;
  for (const Configuration& c : configurations_) {
    types = std::max(types, static_cast<GpuTypeIndex>(c.gpu_type + 1));
    for (std::size_t kind = 0; kind < most_units_.size(); ++kind) {
      ALLOT_CHECK_GE(c.units[kind], 0);
      most_units_[kind] = std::max(most_units_[kind], c.units[kind]);
    }
  }
  by_units_.assign(At(types) * (At(most_units_[0]) + 1) * (At(most_units_[1]) + 1), -1);
  rate_by_units_.assign(by_units_.size(), 0);
  for (std::int32_t i = 0; i < size(); ++i) {
    const std::size_t slot = SlotOf((*this)[i].units, (*this)[i].gpu_type);
    ALLOT_CHECK_EQ(by_units_[slot], -1);  // each configuration once
    by_units_[slot] = i;
    rate_by_units_[slot] = (*this)[i].rate;
  }
}

void ConfigurationTable::OrderTypes() {
  struct Reference {
    GpuTypeIndex type;
    double cost;
    double rate;
  };
  // In (type, cost, rate) order a type's cheapest configurations come first, the fastest of them
  // last.
  std::vector<Reference> references;
  for (std::int32_t i = 0; i < size(); ++i) {
    if (!Useful(i)) continue;
    const Configuration& c = (*this)[i];
    if (references.empty() || references.back().type != c.gpu_type) {
      references.push_back({c.gpu_type, c.cost, c.rate});
    } else if (references.back().cost == c.cost) {
      references.back().rate = c.rate;
    }
  }
  std::stable_sort(references.begin(), references.end(),
                   [](const Reference& a, const Reference& b) { return a.rate > b.rate; });
  for (const Reference& reference : references) types_.push_back(reference.type);
  reference_rate_ = references.front().rate;
  reference_cost_ = references.front().cost;
}

void ConfigurationTable::OrderBySpeed() {
  least_unit_ = kinds_.front().demand;
  for (const UnitKind& kind : kinds_) {
    least_unit_ = {std::min(least_unit_.gpus, kind.demand.gpus),
                   std::min(least_unit_.cpus, kind.demand.cpus)};
  }
  std::vector<std::int32_t> useful;
  for (std::int32_t i = 0; i < size(); ++i) {
    if (Useful(i)) useful.push_back(i);
  }
  std::stable_sort(useful.begin(), useful.end(), [this](std::int32_t a, std::int32_t b) {
    return (*this)[a].rate > (*this)[b].rate;
  });
  for (const std::int32_t i : useful) {
    const bool beaten = std::any_of(fastest_.begin(), fastest_.end(), [&](std::int32_t faster) {
      return (*this)[faster].gpu_type == (*this)[i].gpu_type &&
             (*this)[faster].demand.FitsIn((*this)[i].demand);
    });
    if (!beaten) fastest_.push_back(i);
  }
}

void ConfigurationTable::BuildHull(GpuTypeIndex type) {
  // Andrew's monotone chain over points by rising cost, from the origin (index -1).
  const auto cost = [this](std::int32_t i) { return i < 0 ? 0.0 : (*this)[i].cost; };
  const auto rate = [this](std::int32_t i) { return i < 0 ? 0.0 : (*this)[i].rate; };
  const auto slope = [&](std::int32_t a, std::int32_t b) {
    return (rate(b) - rate(a)) / (cost(b) - cost(a));
  };
  std::vector<std::int32_t> chain{-1};
  for (std::int32_t i = 0; i < size(); ++i) {
    if ((*this)[i].gpu_type != type || !Useful(i) || rate(i) <= rate(chain.back())) continue;
    while (chain.size() > 1) {
      const std::int32_t top = chain.back();
      const bool above =
          cost(i) == cost(top) ||
          slope(top, i) >= slope(chain[chain.size() - 2], top) * (1 - kSlopeTolerance);
      if (!above) break;
      chain.pop_back();
    }
    chain.push_back(i);
  }
  if (hulls_.size() <= At(type)) hulls_.resize(At(type) + 1);
  Resources most;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const Resources& demand = (*this)[chain[i]].demand;
    most = {std::max(most.gpus, demand.gpus), std::max(most.cpus, demand.cpus)};
    HullStep step;
    step.from = chain[i - 1];
    step.to = chain[i];
    step.log_gain = static_cast<float>(std::log(slope(step.from, step.to) / reference_rate_));
    step.log_mid =
        static_cast<float>(std::log((rate(step.to) + rate(step.from)) / 2 / reference_rate_));
    step.cost = cost(step.to);
    step.most = most;
    hulls_[At(type)].push_back(step);
  }
}

}  // namespace allot
