#include "stages/fill/greedy_prefix.h"

#include <algorithm>
#include <limits>

#include "core/index.h"

namespace allot {

void GreedyPrefix::Clear(std::size_t climbs, std::size_t steps, std::size_t types) {
  climbs_.clear();
  climbs_.reserve(climbs);
  steps_ = 0;
  if (keys_.size() < climbs * steps) {
    keys_.resize(climbs * steps);
    buckets_.resize(climbs * steps);
  }
  more_.reserve(kBuckets * types);
  taken_.reserve(types);
}

void GreedyPrefix::OpenClimb(std::span<const HullStep> hull, GpuTypeIndex type) {
  climbs_.push_back({hull.data(), type, 0, 0});
}

// Buckets are of equal width. What matters for the answer is only that a larger key is never in a
// later one.
void GreedyPrefix::Bucket() {
  float top = -std::numeric_limits<float>::infinity();
  float bottom = std::numeric_limits<float>::infinity();
  const float* key = keys_.data();
  for (const Climb& climb : climbs_) {
    if (climb.steps == 0) continue;
    top = std::max(top, key[0]);
    key += climb.steps;
    bottom = std::min(bottom, key[-1]);
  }
  const auto last = static_cast<float>(kBuckets - 1);
  const float scale = last / std::max(top - bottom, 1e-6F);
  for (std::size_t i = 0; i < steps_; ++i) {
    buckets_[i] = static_cast<std::int32_t>(std::min((top - keys_[i]) * scale, last));
  }
}

std::size_t GreedyPrefix::FirstUncertain(const TypeCapacity& capacity) {
  const std::size_t types = capacity.types();
  more_.assign(kBuckets * types, {});
  const std::int32_t* bucket = buckets_.data();
  for (const Climb& climb : climbs_) {
    Resources below;
    for (const HullStep& step : std::span(climb.hull, At(climb.steps))) {
      Demand& more = more_[At(*bucket++) * types + At(climb.type)];
      more.gpus += step.most.gpus - below.gpus;
      more.cpus += step.most.cpus - below.cpus;
      below = step.most;
    }
  }
  taken_.assign(types, {});
  for (std::size_t b = 0; b < kBuckets; ++b) {
    for (std::size_t t = 0; t < types; ++t) {
      const Demand& more = more_[b * types + t];
      if (more.gpus == 0 && more.cpus == 0) continue;
      taken_[t].gpus += more.gpus;
      taken_[t].cpus += more.cpus;
      const Resources& free = capacity.free(static_cast<GpuTypeIndex>(t));
      const Resources& least = capacity.least();
      if (taken_[t].gpus + least.gpus > free.gpus || taken_[t].cpus + least.cpus > free.cpus) {
        return b;
      }
    }
  }
  return kBuckets;
}

void GreedyPrefix::Find(const TypeCapacity& capacity) {
  if (steps_ == 0) return;
  Bucket();
  const auto uncertain = static_cast<std::int32_t>(FirstUncertain(capacity));
  const std::int32_t* bucket = buckets_.data();
  for (Climb& climb : climbs_) {
    std::int32_t& certain = climb.certain;
    while (certain < climb.steps && bucket[certain] < uncertain) ++certain;
    bucket += climb.steps;
  }
}

}  // namespace allot
