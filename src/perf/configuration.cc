#include "perf/configuration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/check.h"

namespace allot {
namespace {

// Slopes closer than this count as equal, so that gains fall strictly in float as well.
constexpr double kSlopeTolerance = 1e-6;

std::size_t At(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace

ConfigurationTable::ConfigurationTable(std::string name, std::vector<UnitKind> kinds,
                                       std::vector<Configuration> configurations)
    : name_(std::move(name)), kinds_(std::move(kinds)), configurations_(std::move(configurations)) {
  ALLOT_CHECK(!configurations_.empty());
  ALLOT_CHECK_LE(kinds_.size(), static_cast<std::size_t>(kMaxUnitKinds));
  for (const Configuration& c : configurations_) {
    ALLOT_CHECK_GT(c.rate, 0.0);
    ALLOT_CHECK_GT(c.cost, 0.0);
    ALLOT_CHECK_GE(c.gpu_type, 0);
    best_rate_ = std::max(best_rate_, c.rate);
    best_efficiency_ = std::max(best_efficiency_, c.rate / c.cost);
  }
  std::sort(configurations_.begin(), configurations_.end(),
            [](const Configuration& a, const Configuration& b) {
              return std::tie(a.gpu_type, a.cost, a.rate, a.units) <
                     std::tie(b.gpu_type, b.cost, b.rate, b.units);
            });
  IndexByUnits();
  OrderTypes();
  for (const GpuTypeIndex type : types_) BuildHull(type);
  max_hull_cost_ = (*this)[hull(types_.front()).back().to].cost;
}

void ConfigurationTable::IndexByUnits() {
  by_units_.resize(configurations_.size());
  std::iota(by_units_.begin(), by_units_.end(), 0);
  const auto key = [this](std::int32_t i) {
    return std::tie((*this)[i].gpu_type, (*this)[i].units);
  };
  std::sort(by_units_.begin(), by_units_.end(),
            [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  for (std::size_t i = 1; i < by_units_.size(); ++i) {
    ALLOT_CHECK(key(by_units_[i - 1]) < key(by_units_[i]));  // each configuration once
  }
}

std::int32_t ConfigurationTable::Find(const UnitCounts& units, GpuTypeIndex type) const {
  const auto wanted = std::tie(type, units);
  const auto key = [this](std::int32_t i) {
    return std::tie((*this)[i].gpu_type, (*this)[i].units);
  };
  const auto at =
      std::lower_bound(by_units_.begin(), by_units_.end(), wanted,
                       [&](std::int32_t i, const auto& value) { return key(i) < value; });
  return at != by_units_.end() && key(*at) == wanted ? *at : -1;
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
  for (const Configuration& c : configurations_) {
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

void ConfigurationTable::BuildHull(GpuTypeIndex type) {
  // Andrew's monotone chain over points by rising cost, from the origin (index -1).
  const auto cost = [this](std::int32_t i) { return i < 0 ? 0.0 : (*this)[i].cost; };
  const auto rate = [this](std::int32_t i) { return i < 0 ? 0.0 : (*this)[i].rate; };
  const auto slope = [&](std::int32_t a, std::int32_t b) {
    return (rate(b) - rate(a)) / (cost(b) - cost(a));
  };
  std::vector<std::int32_t> chain{-1};
  for (std::int32_t i = 0; i < size(); ++i) {
    if ((*this)[i].gpu_type != type || rate(i) <= rate(chain.back())) continue;
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
  for (std::size_t i = 1; i < chain.size(); ++i) {
    HullStep step;
    step.from = chain[i - 1];
    step.to = chain[i];
    step.log_gain = static_cast<float>(std::log(slope(step.from, step.to) / reference_rate_));
    step.log_mid =
        static_cast<float>(std::log((rate(step.to) + rate(step.from)) / 2 / reference_rate_));
    hulls_[At(type)].push_back(step);
  }
}

const std::vector<HullStep>& ConfigurationTable::hull(GpuTypeIndex type) const {
  static const std::vector<HullStep> kNone;
  return At(type) < hulls_.size() ? hulls_[At(type)] : kNone;
}

}  // namespace allot
