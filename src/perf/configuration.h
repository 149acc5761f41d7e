#pragma once
// Configurations: the common currency of the house. A configuration is one way a job can run (how
// many units of each kind, on which GPU type), with its demand and its rate. A job's table of them
// belongs to its throughput profile and is shared by all jobs of equal profile and limits.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/types.h"

namespace allot {

// A demand or a capacity. Componentwise; memory is not scheduled yet.
struct Resources {
  std::int32_t gpus = 0;  // GPUs, or a profile's GPU slots (DL2: 4 slots = 1 GPU)
  std::int32_t cpus = 0;

  Resources& operator+=(const Resources& o) {
    gpus += o.gpus;
    cpus += o.cpus;
    return *this;
  }
  Resources& operator-=(const Resources& o) {
    gpus -= o.gpus;
    cpus -= o.cpus;
    return *this;
  }
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
  friend Resources operator*(Resources a, std::int32_t n) { return {a.gpus * n, a.cpus * n}; }
  friend bool operator==(const Resources&, const Resources&) = default;
  bool FitsIn(const Resources& o) const { return gpus <= o.gpus && cpus <= o.cpus; }
};

// What a job is made of: GPUs in the usual world, workers and parameter servers in DL2's.
inline constexpr int kMaxUnitKinds = 2;
struct UnitKind {
  std::string name;  // "gpu", "worker", "ps"
  Resources demand;  // of one unit; a unit lives on one node
  double price = 1;  // of one unit; a configuration's cost is the sum over its units
};
using UnitCounts = std::array<std::int16_t, kMaxUnitKinds>;
inline constexpr GpuCount kMaxGpusPerJob = std::numeric_limits<UnitCounts::value_type>::max();

struct Configuration {
  UnitCounts units{};
  GpuTypeIndex gpu_type = 0;  // index into the table's GPU types
  Resources demand;           // of all units together
  double cost = 0;            // scalar price of the units: 1 a GPU, or what the kinds say
  double rate = 0;            // work per second; <= 0: holds its units and makes no progress
};

// One step of the upper concave hull of (cost, rate) for one GPU type; steps of a hull have
// strictly falling gain per cost. `from` is the configuration below it (-1: nothing).
struct HullStep {
  std::int32_t from = -1;
  std::int32_t to = -1;
  float log_gain = 0;  // ln((rate_to - rate_from) / (cost_to - cost_from) / reference rate)
  float log_mid = 0;   // ln((rate_to + rate_from) / 2 / reference rate)
  double cost = 0;     // of `to`
  Resources most;      // componentwise the most that `to` and the steps below it demand
};

class ConfigurationTable {
 public:
  static constexpr UnitCounts kNoLimits = {kMaxGpusPerJob, kMaxGpusPerJob};

  // `configurations` in any order, at least one that progresses; sorted here by (type, cost, rate).
  // Those of more units than `limits` are there for their rates only: policies may look one step
  // past what a job may hold. The reference is the cheapest progressing configuration of the
  // fastest type. O(n log n).
  ConfigurationTable(std::string name, std::vector<UnitKind> kinds,
                     std::vector<Configuration> configurations, UnitCounts limits = kNoLimits);

  const std::string& name() const { return name_; }
  const std::vector<UnitKind>& kinds() const { return kinds_; }
  const std::vector<Configuration>& configurations() const { return configurations_; }
  const Configuration& operator[](std::int32_t index) const {
    return configurations_[static_cast<std::size_t>(index)];
  }
  const UnitCounts& limits() const { return limits_; }
  const UnitCounts& most_units() const { return most_units_; }  // of each kind
  bool Allocatable(std::int32_t index) const {
    const UnitCounts& units = (*this)[index].units;
    return units[0] <= limits_[0] && units[1] <= limits_[1];
  }
  std::int32_t size() const { return static_cast<std::int32_t>(configurations_.size()); }

  // Index of the configuration with these units on this type, or -1. O(1).
  std::int32_t Find(const UnitCounts& units, GpuTypeIndex type) const {
    if (units[0] < 0 || units[0] > most_units_[0] || units[1] < 0 || units[1] > most_units_[1]) {
      return -1;
    }
    const std::size_t slot = SlotOf(units, type);
    return type >= 0 && slot < by_units_.size() ? by_units_[slot] : -1;
  }

  // Its rate: the same as (*this)[Find(units, type)].rate in one look. There must be one.
  double RateOf(const UnitCounts& units, GpuTypeIndex type) const {
    return rate_by_units_[SlotOf(units, type)];
  }

  // Types with at least one configuration that progresses, by falling rate of their cheapest one
  // (ties: by index).
  const std::vector<GpuTypeIndex>& types() const { return types_; }
  const std::vector<HullStep>& hull(GpuTypeIndex type) const {  // empty for a type it has not
    const auto at = static_cast<std::size_t>(type);
    return at < hulls_.size() ? hulls_[at] : kNoHull;
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
  bool Useful(std::int32_t index) const { return (*this)[index].rate > 0 && Allocatable(index); }
  std::size_t SlotOf(const UnitCounts& units, GpuTypeIndex type) const {
    const auto at = [](auto index) { return static_cast<std::size_t>(index); };
    const std::size_t rows = at(most_units_[0]) + 1;
    const std::size_t columns = at(most_units_[1]) + 1;
    return (at(type) * rows + at(units[0])) * columns + at(units[1]);
  }
  void IndexByUnits();
  void OrderTypes();
  void BuildHull(GpuTypeIndex type);
  void OrderBySpeed();

  std::string name_;
  std::vector<UnitKind> kinds_;
  std::vector<Configuration> configurations_;
  UnitCounts limits_;
  UnitCounts most_units_{};             // of each kind, over all configurations
  std::vector<std::int32_t> by_units_;  // [type][units 0][units 1] -> index or -1
  std::vector<double> rate_by_units_;   // the same, 0 for none
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
