#pragma once
// Configurations: ways a job can run (how many units of each kind, on which GPU type, over how many
// nodes, beside whom), each with its demand and its rate. A job's table of them belongs to its
// throughput profile and is shared by all jobs of equal profile and limits.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/index.h"
#include "core/types.h"
#include "perf/configuration_key.h"
#include "perf/hull_step.h"
#include "perf/units.h"

namespace allot {

struct Configuration {
  UnitCounts units{};
  GpuTypeIndex gpu_type = 0;          // index into the table's GPU types
  std::int16_t partner = kNoPartner;  // a profile that shares its GPUs: index of partners()
  Span span{};                        // nodes that the units may lie on
  float state_seconds = 0;            // ThroughputModel::StateSeconds
  Resources demand;                   // of all units together
  double cost = 0;                    // scalar price of the units: 1 a GPU, or what the kinds say
  double rate = 0;  // work per second; <= 0: holds its units and makes no progress

  ConfigurationKey key() const { return {units, gpu_type, span, partner}; }
};

// A table has a layout (its configurations, their order, demands and lookup), which never changes,
// and rates with what follows from them (hulls, references), which Renew replaces in place.
class ConfigurationTable {
 public:
  static constexpr UnitCounts kNoLimits = {kMaxGpusPerJob, kMaxGpusPerJob};

  // `configurations` in any order, each key once, at least one that progresses; sorted here by
  // (type, cost), equal ones stay in the order given. Those of more units than `limits` are there
  // for their rates only: policies may look one step past what a job may hold. Those with a partner
  // are found by their key only: hulls, best rates and fastest() are of a job alone on its GPUs.
  // The reference is the cheapest progressing configuration of the fastest type. O(n log n).
  ConfigurationTable(std::string name, std::vector<UnitKind> kinds,
                     std::vector<Configuration> configurations, UnitCounts limits = kNoLimits,
                     std::vector<std::string> partners = {});

  // Other rates for the same layout, one a configuration, by index: hulls, references and
  // fingerprint follow, and version() rises by one. At least one that a job may hold must be > 0.
  // Whoever shares the table sees it change. O(n).
  void Renew(std::span<const double> rates);
  ConfigurationTable WithRates(std::span<const double> rates) const;  // of its own
  // And up to how many units rates are more than guesses: hulls, best rates and fastest() leave out
  // what has more, which a job may hold. One that progresses must be left.
  void Renew(std::span<const double> rates, const UnitCounts& trusted);
  // And the standard deviations of their logarithms, finite and >= 0, by index; none: all 0.
  void Renew(std::span<const double> rates, const UnitCounts& trusted,
             std::span<const float> spreads);

  // Which table this is, by content: equal exactly for tables of equal name, layout and rates (64
  // bits). An address says less: tables are renewed in place.
  std::uint64_t fingerprint() const { return fingerprint_; }
  // The same of the layout alone: indices mean the same in tables where it is equal.
  std::uint64_t layout() const { return layout_; }
  std::uint64_t version() const { return version_; }  // how often it was renewed

  const std::string& name() const { return name_; }
  const std::string& slowness_class() const { return slowness_class_; }  // cluster/gpu_slowness.h
  void SetSlownessClass(std::string_view name) { slowness_class_ = name; }
  const std::vector<UnitKind>& kinds() const { return kinds_; }
  const std::vector<Configuration>& configurations() const { return configurations_; }
  const Configuration& operator[](std::int32_t index) const { return configurations_[At(index)]; }
  const UnitCounts& limits() const { return limits_; }
  const UnitCounts& most_units() const { return most_units_; }  // of each kind
  const UnitCounts& trusted() const { return trusted_; }        // kNoLimits: all
  // Of the rate's logarithm; 0: it was measured, or nobody says.
  float spread(std::int32_t index) const { return spreads_.empty() ? 0 : spreads_[At(index)]; }
  // What a step from one to the other would find out: HullStep::unknown. -1: nothing.
  float UnknownOf(std::int32_t from, std::int32_t to) const {
    return from >= 0 && spread(from) == 0 ? spread(to) : 0;
  }
  bool Allocatable(std::int32_t index) const { return (*this)[index].units.FitsIn(limits_); }
  const std::vector<std::string>& partners() const { return partners_; }  // profiles
  std::int32_t size() const { return static_cast<std::int32_t>(configurations_.size()); }

  // Index of the configuration with these units on this type, or -1; where several differ in span,
  // the fastest of them that has no partner. O(1).
  std::int32_t Find(const UnitCounts& units, GpuTypeIndex type) const {
    const std::int32_t first = First(units, type);
    return first >= 0 && (*this)[first].partner != kNoPartner ? -1 : first;
  }
  // The fastest of these that may lie on so many nodes. O(spans).
  std::int32_t Find(const UnitCounts& units, GpuTypeIndex type, std::size_t nodes) const {
    std::int32_t index = Find(units, type);
    while (index >= 0 && !(*this)[index].span.Holds(nodes)) index = Slower(index);
    return index;
  }
  // The next slower one of equal units and type with another span and no partner, or -1. O(1).
  std::int32_t Slower(std::int32_t index) const {
    if (next_.empty()) return -1;
    const std::int32_t next = next_[static_cast<std::size_t>(index)];
    return next >= 0 && (*this)[next].partner != kNoPartner ? -1 : next;
  }
  bool SameUnits(std::int32_t a, std::int32_t b) const {
    return (*this)[a].units == (*this)[b].units;
  }
  // What has as many units as this one does, on another type, or -1. O(1).
  std::int32_t OnType(std::int32_t index, GpuTypeIndex type) const {
    return Find((*this)[index].units, type);
  }
  // Exactly this one, or -1. O(spans and partners).
  std::int32_t Find(const ConfigurationKey& key) const;
  // Its key as text, and the index of a key's text; DataError for a text that is no key (-1: a key
  // that the table does not have).
  std::string KeyText(std::int32_t index, const std::vector<std::string>& gpu_types) const;
  std::int32_t FindText(std::string_view key, const std::vector<std::string>& gpu_types) const;

  bool has_spans() const { return has_spans_; }  // some configuration's is not any

  // Its rate: the same as (*this)[Find(units, type)].rate in one look. There must be one.
  double RateOf(const UnitCounts& units, GpuTypeIndex type) const {
    return rate_by_units_[SlotOf(units, type)];
  }

  // Types with at least one configuration that progresses, by falling rate of their cheapest one
  // (ties: by index).
  const std::vector<GpuTypeIndex>& types() const { return types_; }
  const std::vector<HullStep>& hull(GpuTypeIndex type) const {  // empty for a type it has not
    return At(type) < hulls_.size() ? hulls_[At(type)] : kNoHull;
  }

  // Progressing configurations that a job may hold, by falling rate (ties: by index), without those
  // that another of the type matches or beats with no larger demand: of what fits, the first is the
  // best.
  const std::vector<std::int32_t>& fastest() const { return fastest_; }
  // Componentwise the least that one unit more demands, whatever its kind.
  const Resources& least_unit() const { return least_unit_; }

  double reference_rate() const { return reference_rate_; }    // of the cheapest configuration ...
  double reference_cost() const { return reference_cost_; }    // ... of the fastest type
  double best_rate() const { return best_rate_; }              // over all configurations
  double best_efficiency() const { return best_efficiency_; }  // max of rate / cost
  double max_hull_cost() const { return max_hull_cost_; }      // where the fastest type's hull ends

 private:
  static inline const std::vector<HullStep> kNoHull;
  bool Useful(std::int32_t index) const {
    const Configuration& c = (*this)[index];
    return c.rate > 0 && c.partner == kNoPartner && c.units.FitsIn(trusted_) && Allocatable(index);
  }
  std::int32_t First(const UnitCounts& units, GpuTypeIndex type) const {
    const int a = units.of(0);
    const int b = units.of(1);
    if (a < 0 || a > most_units_.of(0) || b < 0 || b > most_units_.of(1)) return -1;
    const std::size_t slot = SlotOf(units, type);
    return type >= 0 && slot < by_units_.size() ? by_units_[slot] : -1;
  }
  std::size_t SlotOf(const UnitCounts& units, GpuTypeIndex type) const {
    const std::size_t rows = At(most_units_.of(0)) + 1;
    const std::size_t columns = At(most_units_.of(1)) + 1;
    return (At(type) * rows + At(units.of(0))) * columns + At(units.of(1));
  }
  void CheckLayout() const;
  void IndexByUnits();
  void ChainSpans();
  void FollowRates();
  void OrderTypes();
  void BuildHull(GpuTypeIndex type);
  void OrderBySpeed();

  std::string name_;
  std::string slowness_class_;
  std::vector<UnitKind> kinds_;
  std::vector<Configuration> configurations_;
  UnitCounts limits_;
  UnitCounts trusted_ = kNoLimits;
  std::vector<float> spreads_;  // by configuration; empty: all 0
  std::vector<std::string> partners_;
  std::uint64_t layout_ = 0;
  std::uint64_t fingerprint_ = 0;
  std::uint64_t version_ = 0;
  bool has_spans_ = false;
  UnitCounts most_units_{};             // of each kind, over all configurations
  std::vector<std::int32_t> by_units_;  // [type][units 0][units 1] -> index or -1
  std::vector<double> rate_by_units_;   // the same, 0 for none
  // Of equal units and type: alone before partnered, then by falling rate. Empty where each is
  // the only one of its units.
  std::vector<std::int32_t> next_;
  std::vector<GpuTypeIndex> types_;
  std::vector<std::vector<HullStep>> hulls_;  // by type index
  std::vector<std::int32_t> fastest_;
  Resources least_unit_;
  double reference_rate_ = 0;
  double reference_cost_ = 0;
  double best_rate_ = 0;
  double best_efficiency_ = 0;
  double max_hull_cost_ = 0;
};

}  // namespace allot
