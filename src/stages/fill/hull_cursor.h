#pragma once
// The input of a hull fill (stages/fill/hull_fill.h) for each job, and one job's way up its hull.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"
#include "core/index.h"
#include "core/packed_sort.h"

namespace allot {

struct Score {
  float u = 0;
  float beta = 0;
  float kappa = 0;
};

struct HullFillOptions {
  float first_bonus =
      0;  // added to each job's first step; large: every job gets a first configuration
  std::vector<GpuCount> sizes{};  // that jobs are given, ascending; empty: any
  float explore = 0;              // weight of what is unknown of a rate; needs lengths
};

// One job's way up its hull: which step comes next, and what it is worth.
class HullCursor {
 public:
  HullCursor(const Observation& observation, std::int32_t row, GpuTypeIndex type)
      : HullCursor(observation, row, type, observation.table[At(row)]->hull(type)) {}
  // On another hull of the type, which stays as it is.
  HullCursor(const Observation& observation, std::int32_t row, GpuTypeIndex type,
             const std::vector<HullStep>& hull)
      : hull_(&hull), type_(type) {
    const std::int32_t running = observation.running[At(row)];
    if (running < 0) return;
    const Configuration& now = (*observation.table[At(row)])[running];
    if (now.gpu_type == type) running_cost_ = now.cost;
  }
  bool done() const { return position_ >= static_cast<std::int32_t>(hull_->size()); }
  const HullStep& step() const { return (*hull_)[static_cast<std::size_t>(position_)]; }
  GpuTypeIndex type() const { return type_; }
  std::span<const HullStep> hull() const { return *hull_; }
  // Reached so far, -1: nothing.
  std::int32_t configuration() const {
    return position_ == 0 ? -1 : (*hull_)[static_cast<std::size_t>(position_) - 1].to;
  }
  // +1 for a step within what it runs on now, else -1.
  float kappa_sign() const {
    return static_cast<float>(2 * static_cast<int>(step().cost <= running_cost_) - 1);
  }
  float Key(const Score& score, const HullFillOptions& options) const {
    const HullStep& next = step();
    return score.u + (position_ == 0 ? options.first_bonus : 0.0F) + next.log_gain -
           score.beta * next.log_mid + kappa_sign() * score.kappa + explore_ * next.unknown;
  }
  void Explore(float weight) { explore_ = weight; }  // of HullStep::unknown
  void Advance(std::int32_t steps = 1) { position_ += steps; }
  std::int32_t position() const { return position_; }

 private:
  const std::vector<HullStep>* hull_;
  double running_cost_ = 0;
  GpuTypeIndex type_;
  std::int32_t position_ = 0;
  float explore_ = 0;
};

// A step that is open, as one number: the best is the largest, by key, then the earlier cursor.
inline std::uint64_t EntryOf(float key, std::size_t cursor) {
  return PackKey(key, ~cursor & 0xFFFFFFFFU);
}
inline std::size_t CursorOf(std::uint64_t entry) { return ~entry & 0xFFFFFFFFU; }

}  // namespace allot
