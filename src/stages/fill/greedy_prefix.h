#pragma once
// The part of a hull fill that needs no order: the steps above a price at which all of them fit
// together. None of them is refused in any order, so the fill takes them at once and continues
// step by step. Used only by HullFill.

#include <cstdint>
#include <span>
#include <vector>

#include "perf/configuration.h"
#include "stages/fill/capacity.h"

namespace allot {

class GreedyPrefix {
 public:
  // With memory for so many climbs of so many steps, so that later ones need no more.
  void Clear(std::size_t climbs, std::size_t steps, std::size_t types);
  // One job's way up a hull of its type.
  void OpenClimb(std::span<const HullStep> hull, GpuTypeIndex type);
  // The key of its next step: finite, and no larger than the one before. Steps that are left out
  // are not certain.
  void AddStep(float key) {
    keys_[steps_++] = key;
    ++climbs_.back().steps;
  }

  // Finds the price: afterwards, of each climb, so many first steps are certain. What is left by
  // them still serves the capacity's least unit, on each type that they use. O(steps); no
  // allocation in steady state.
  void Find(const TypeCapacity& capacity);
  std::int32_t certain(std::size_t climb) const { return climbs_[climb].certain; }

 private:
  static constexpr std::size_t kBuckets = 128;
  struct Climb {
    const HullStep* hull;
    GpuTypeIndex type;
    std::int32_t steps;
    std::int32_t certain;
  };
  struct Demand {
    std::int64_t gpus = 0;
    std::int64_t cpus = 0;
  };
  void Bucket();
  std::size_t FirstUncertain(const TypeCapacity& capacity);

  std::vector<Climb> climbs_;
  std::size_t steps_ = 0;
  std::vector<float> keys_;            // of all climbs' steps, one climb after another
  std::vector<std::int32_t> buckets_;  // likewise; 0: the largest keys
  std::vector<Demand> more_;           // [bucket][type] of the steps in a bucket
  std::vector<Demand> taken_;          // by type
};

}  // namespace allot
