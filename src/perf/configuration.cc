#include "perf/configuration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/index.h"
#include "core/rng.h"

namespace allot {
namespace {

// Slopes closer than this count as equal, so that gains fall strictly in float as well.
constexpr double kSlopeTolerance = 1e-6;

// Words into one: multiply and fold (the finalizer of splitmix64, Steele et al., OOPSLA'14).
class Fingerprint {
 public:
  explicit Fingerprint(std::uint64_t begin) : value_(begin) {}
  void Mix(std::uint64_t word) {
    value_ += word + 0x9e3779b97f4a7c15ULL;
    value_ = (value_ ^ (value_ >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value_ = (value_ ^ (value_ >> 27)) * 0x94d049bb133111ebULL;
    value_ ^= value_ >> 31;
  }
  void Mix(double number) { Mix(std::bit_cast<std::uint64_t>(number)); }
  void Mix(std::string_view text) { Mix(StableHash(text)); }
  void Mix(const UnitCounts& units) {
    for (const auto count : units.counts()) Mix(static_cast<std::uint64_t>(count));
  }
  void Mix(const Resources& r) {
    Mix(static_cast<std::uint64_t>(r.gpus));
    Mix(static_cast<std::uint64_t>(r.cpus));
    Mix(static_cast<std::uint64_t>(r.memory_mb));
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

}  // namespace

ConfigurationTable::ConfigurationTable(std::string name, std::vector<UnitKind> kinds,
                                       std::vector<Configuration> configurations, UnitCounts limits,
                                       std::vector<std::string> partners)
    : name_(std::move(name)),
      kinds_(std::move(kinds)),
      configurations_(std::move(configurations)),
      limits_(limits),
      partners_(std::move(partners)) {
  std::stable_sort(configurations_.begin(), configurations_.end(),
                   [](const Configuration& a, const Configuration& b) {
                     return a.gpu_type != b.gpu_type ? a.gpu_type < b.gpu_type : a.cost < b.cost;
                   });
  CheckLayout();
  for (std::size_t kind = 0; kind < kMaxUnitKinds; ++kind) {
    for (const Configuration& c : configurations_) {
      most_units_.Set(kind, std::max(most_units_.of(kind), c.units.of(kind)));
    }
    limits_.Set(kind, std::min(limits_.of(kind), most_units_.of(kind)));
  }
  least_unit_ = kinds_.front().demand;
  for (const UnitKind& kind : kinds_) {
    least_unit_ = {std::min(least_unit_.gpus, kind.demand.gpus),
                   std::min(least_unit_.cpus, kind.demand.cpus),
                   std::min(least_unit_.memory_mb, kind.demand.memory_mb)};
  }
  Fingerprint layout(kinds_.size());
  for (const UnitKind& kind : kinds_) {
    layout.Mix(kind.name);
    layout.Mix(kind.demand);
    layout.Mix(kind.price);
  }
  layout.Mix(limits_);
  for (const std::string& partner : partners_) layout.Mix(partner);
  for (const Configuration& c : configurations_) {
    layout.Mix(c.units);
    layout.Mix(static_cast<std::uint64_t>(c.gpu_type));
    layout.Mix(static_cast<std::uint64_t>(c.span.least) << 32 |
               static_cast<std::uint64_t>(c.span.most));
    layout.Mix(static_cast<std::uint64_t>(c.partner));
    layout.Mix(c.demand);
    layout.Mix(c.cost);
    has_spans_ = has_spans_ || !c.span.any();
  }
  layout_ = layout.value();
  IndexByUnits();
  FollowRates();
}

void ConfigurationTable::CheckLayout() const {
  ALLOT_CHECK(!configurations_.empty());
  ALLOT_CHECK_LE(kinds_.size(), static_cast<std::size_t>(kMaxUnitKinds));
  for (const Configuration& c : configurations_) {
    ALLOT_CHECK_GT(c.cost, 0.0);
    ALLOT_CHECK_GE(c.gpu_type, 0);
    ALLOT_CHECK_GE(c.span.least, 1);
    ALLOT_CHECK_LE(c.span.least, c.span.most);
    ALLOT_CHECK_GE(c.partner, kNoPartner);
    ALLOT_CHECK_LT(c.partner, static_cast<std::int64_t>(partners_.size()));
    for (const auto count : c.units.counts()) ALLOT_CHECK_GE(count, 0);
  }
}

void ConfigurationTable::Renew(std::span<const double> rates) {
  ALLOT_CHECK_EQ(rates.size(), configurations_.size());
  for (std::size_t i = 0; i < rates.size(); ++i) configurations_[i].rate = rates[i];
  FollowRates();
  ++version_;
}

void ConfigurationTable::Renew(std::span<const double> rates, const UnitCounts& trusted) {
  trusted_ = trusted;
  Renew(rates);
}

void ConfigurationTable::Renew(std::span<const double> rates, const UnitCounts& trusted,
                               std::span<const float> spreads) {
  if (!spreads.empty()) ALLOT_CHECK_EQ(spreads.size(), configurations_.size());
  for (const float spread : spreads) ALLOT_CHECK(std::isfinite(spread) && spread >= 0);
  spreads_.assign(spreads.begin(), spreads.end());
  Renew(rates, trusted);
}

ConfigurationTable ConfigurationTable::WithRates(std::span<const double> rates) const {
  ConfigurationTable other = *this;
  other.Renew(rates);
  other.version_ = 0;
  return other;
}

// All that is worked out of rates.
void ConfigurationTable::FollowRates() {
  Fingerprint content(layout_);
  content.Mix(name_);
  if (!(trusted_ == kNoLimits)) content.Mix(trusted_);
  for (const float spread : spreads_) content.Mix(spread);
  best_rate_ = 0;
  best_efficiency_ = 0;
  for (std::int32_t i = 0; i < size(); ++i) {
    const Configuration& c = (*this)[i];
    ALLOT_CHECK(std::isfinite(c.rate));
    content.Mix(c.rate);
    if (!Useful(i)) continue;
    best_rate_ = std::max(best_rate_, c.rate);
    best_efficiency_ = std::max(best_efficiency_, c.rate / c.cost);
  }
  fingerprint_ = content.value();
  ALLOT_CHECK_GT(best_rate_, 0.0);
  ChainSpans();
  for (std::size_t slot = 0; slot < by_units_.size(); ++slot) {
    const std::int32_t index = by_units_[slot];
    rate_by_units_[slot] = index < 0 ? 0 : (*this)[index].rate;
  }
  OrderTypes();
  for (std::vector<HullStep>& steps : hulls_) steps.clear();
  for (const GpuTypeIndex type : types_) BuildHull(type);
  OrderBySpeed();
  max_hull_cost_ = (*this)[hull(types_.front()).back().to].cost;
}

void ConfigurationTable::IndexByUnits() {
  GpuTypeIndex types = 0;
  for (const Configuration& c : configurations_) {
    types = std::max(types, static_cast<GpuTypeIndex>(c.gpu_type + 1));
  }
  by_units_.assign(At(types) * (At(most_units_.of(0)) + 1) * (At(most_units_.of(1)) + 1), -1);
  rate_by_units_.assign(by_units_.size(), 0);
  for (std::int32_t i = 0; i < size(); ++i) {
    std::int32_t& first = by_units_[SlotOf((*this)[i].units, (*this)[i].gpu_type)];
    if (first >= 0) {
      if (next_.empty()) next_.assign(configurations_.size(), -1);
      for (std::int32_t other = first; other >= 0; other = next_[At(other)]) {
        ALLOT_CHECK(!((*this)[other].key() == (*this)[i].key()));  // each configuration once
      }
      next_[At(i)] = first;
    }
    first = i;
  }
}

void ConfigurationTable::ChainSpans() {
  if (next_.empty()) return;
  std::vector<std::int32_t> chain;
  for (std::int32_t& first : by_units_) {
    if (first < 0 || next_[At(first)] < 0) continue;
    chain.clear();
    for (std::int32_t i = first; i >= 0; i = next_[At(i)]) chain.push_back(i);
    std::sort(chain.begin(), chain.end(), [this](std::int32_t a, std::int32_t b) {
      const Configuration& x = (*this)[a];
      const Configuration& y = (*this)[b];
      const bool alone = x.partner == kNoPartner;
      if (alone != (y.partner == kNoPartner)) return alone;
      return x.rate != y.rate ? x.rate > y.rate : a < b;
    });
    first = chain.front();
    for (std::size_t i = 0; i < chain.size(); ++i) {
      next_[At(chain[i])] = i + 1 < chain.size() ? chain[i + 1] : -1;
    }
  }
}

std::int32_t ConfigurationTable::Find(const ConfigurationKey& key) const {
  std::int32_t index = First(key.units(), key.gpu_type());
  while (index >= 0 && !((*this)[index].key() == key)) {
    index = next_.empty() ? -1 : next_[At(index)];
  }
  return index;
}

std::string ConfigurationTable::KeyText(std::int32_t index,
                                        const std::vector<std::string>& gpu_types) const {
  return TextOf((*this)[index].key(), {kinds_, gpu_types, partners_});
}

std::int32_t ConfigurationTable::FindText(std::string_view key,
                                          const std::vector<std::string>& gpu_types) const {
  return Find(ParseKey(key, {kinds_, gpu_types, partners_}));
}

void ConfigurationTable::OrderTypes() {
  struct Reference {
    GpuTypeIndex type;
    double cost;
    double rate;
  };
  // In (type, cost) order a type's cheapest configurations come first.
  std::vector<Reference> references;
  for (std::int32_t i = 0; i < size(); ++i) {
    if (!Useful(i)) continue;
    const Configuration& c = (*this)[i];
    if (references.empty() || references.back().type != c.gpu_type) {
      references.push_back({c.gpu_type, c.cost, c.rate});
    } else if (references.back().cost == c.cost) {
      references.back().rate = std::max(references.back().rate, c.rate);
    }
  }
  std::stable_sort(references.begin(), references.end(),
                   [](const Reference& a, const Reference& b) { return a.rate > b.rate; });
  types_.clear();
  for (const Reference& reference : references) types_.push_back(reference.type);
  reference_rate_ = references.front().rate;
  reference_cost_ = references.front().cost;
}

void ConfigurationTable::OrderBySpeed() {
  fastest_.clear();
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
    most = {std::max(most.gpus, demand.gpus), std::max(most.cpus, demand.cpus),
            std::max(most.memory_mb, demand.memory_mb)};
    HullStep step;
    step.from = chain[i - 1];
    step.to = chain[i];
    step.log_gain = static_cast<float>(std::log(slope(step.from, step.to) / reference_rate_));
    step.log_mid =
        static_cast<float>(std::log((rate(step.to) + rate(step.from)) / 2 / reference_rate_));
    step.cost = cost(step.to);
    step.most = most;
    step.unknown = UnknownOf(step.from, step.to);
    hulls_[At(type)].push_back(step);
  }
}

}  // namespace allot
