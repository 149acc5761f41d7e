#pragma once
// The greedy fill that turns per-job scores into sizes: the weighted alpha-fair family.
//
// Maximises sum_i exp(u_i) s_i^(1-beta_i) / (1-beta_i) over the concave hulls of the jobs' (cost,
// rate) tables, s_i = rate / reference rate, by always taking the hull step with the largest
// marginal value per cost:  key = u + ln(d rate / d cost / reference rate) - beta ln(s at the
// step's middle) +- kappa, plus kappa for steps up to what the job runs on now, minus beyond:
// stickiness against resizes. SRTF, LAS, FIFO (beta 0), proportional fairness (1), Optimus' and
// Pollux' utilities (2) and max-min (large beta) are points of it.
//
// O((rows + steps taken) log rows); no allocation in steady state. Shared by the index policies,
// the environment's index action and, sampled, by policy-gradient training.

#include <span>
#include <vector>

#include "cluster/observation.h"
#include "sched/capacity.h"
#include "sched/stages.h"

namespace allot {

struct Score {
  float u = 0;
  float beta = 0;
  float kappa = 0;
};

struct HullFillOptions {
  float first_bonus =
      0;  // added to each job's first step; large: everybody gets a first configuration
};

// One job's way up its hull: which step comes next, and what it is worth.
class HullCursor {
 public:
  HullCursor(const Observation& observation, std::int32_t row, GpuTypeIndex type);
  bool done() const { return position_ >= static_cast<std::int32_t>(hull_->size()); }
  const HullStep& step() const { return (*hull_)[static_cast<std::size_t>(position_)]; }
  GpuTypeIndex type() const { return type_; }
  std::int32_t configuration() const;  // reached so far, -1: nothing
  float kappa_sign() const;            // +1 for a step within what it runs on now, else -1
  float Key(const Score& score, const HullFillOptions& options) const;
  void Advance() { ++position_; }
  std::int32_t position() const { return position_; }

 private:
  const ConfigurationTable* table_;
  const std::vector<HullStep>* hull_;
  double running_cost_;
  GpuTypeIndex type_;
  std::int32_t position_ = 0;
};

class HullFill {
 public:
  explicit HullFill(HullFillOptions options = {}) : options_(options) {}

  // Appends grants for `rows` with scores[i] of rows[i], best first step first.
  void Fill(const Observation& observation, std::span<const std::int32_t> rows,
            std::span<const Score> scores, std::vector<Grant>* grants);

 private:
  struct Entry {
    float key;
    std::int32_t index;   // into rows
    std::int32_t cursor;  // into cursors_
  };
  HullFillOptions options_;
  TypeCapacity capacity_;
  std::vector<HullCursor> cursors_;
  std::vector<Entry> heap_;
  std::vector<std::int32_t> chosen_;        // per rows index: configuration, -1: none
  std::vector<std::int32_t> first_served_;  // rows indices in order of their first step
  std::vector<char> served_;                // per rows index: granted
  std::vector<std::int32_t> blocked_;       // rows indices whose next step did not fit, best first
};

// Componentwise the least that one unit more of any of the jobs takes: when not even that is free,
// a fill is over.
Resources LeastUnit(const Observation& observation, std::span<const std::int32_t> rows);

// After a fill: uses what is left. Jobs get, in the order of `preference` (indices into rows), the
// best configuration that fits on top of what they hold, where that is worth a restart within an
// interval.
void FillLeftovers(const Observation& observation, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> preference, TypeCapacity* capacity,
                   std::vector<std::int32_t>* chosen);

}  // namespace allot
