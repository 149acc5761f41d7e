#pragma once
// The greedy fill that turns per-job scores into sizes: the weighted alpha-fair family.
//
// Maximises sum_i exp(u_i) s_i^(1-beta_i) / (1-beta_i) over the concave hulls of the jobs' (cost,
// rate) tables, s_i = rate / reference rate, by always taking the hull step with the largest
// marginal value per cost:  key = u + ln(d rate / d cost / reference rate) - beta ln(s at the
// step's middle) +- kappa, plus kappa for steps up to what the job runs on now, minus beyond:
// stickiness against resizes. `explore` adds to a job's first step beyond what is known the spread
// of the rate there (ConfigurationTable::spread), less where two restarts and an interval are much
// of its remaining time: what it finds out serves it for the rest of its run. SRTF, LAS, FIFO (beta
// 0), proportional fairness (1), Optimus' and Pollux' utilities (2) and max-min (large beta) are
// points of it.
//
// O(rows + steps + log rows for each step near the last price); no allocation in steady state. Of a
// long queue only the rows that can be served are looked at beyond their keys (ServableRows).
// Shared by the index policies, the environment's index action and, sampled, by policy-gradient
// training.

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "cluster/observation.h"
#include "sched/stages.h"
#include "stages/fill/capacity.h"
#include "stages/fill/greedy_prefix.h"
#include "stages/fill/hull_cursor.h"
#include "stages/fill/servable_rows.h"
#include "stages/fill/sized_hulls.h"

namespace allot {

// One step that a fill considered, in its order: what explanations are made of.
struct FillStep {
  std::int32_t index = 0;  // into rows
  std::int32_t from = -1;  // configurations; -1: nothing
  std::int32_t to = -1;
  float key = 0;
  bool fits = false;  // taken; else the job's climb ended here
  Resources free;     // of the GPU type at that moment, the job's own included
};

class HullFill {
 public:
  explicit HullFill(HullFillOptions options = {})
      : options_(std::move(options)), hulls_(options_.sizes) {}

  // Tables of another episode may lie where those of the last one did.
  void OnEpisodeStart() { hulls_.Forget(); }

  // Appends grants for `rows` with scores[i] of rows[i], best first step first, and to `trace`,
  // when there is one, every step considered; leftovers are handed out after them.
  // `types`: the type of rows[i], on which alone it climbs, and whose first step comes before all
  // rows without one (kNoType). Empty: a job takes the type of its best first step that fits.
  void Fill(const Observation& observation, std::span<const std::int32_t> rows,
            std::span<const Score> scores, std::vector<Grant>* grants,
            std::vector<FillStep>* trace = nullptr, std::span<const GpuTypeIndex> types = {});

 private:
  void FillFrom(const Observation& observation, std::span<const std::int32_t> rows,
                std::span<const Score> scores, std::vector<Grant>* grants,
                std::vector<FillStep>* trace, std::span<const GpuTypeIndex> types);
  // Rows indices by (submit, job): the order of equal keys.
  void OrderBySubmission(const Observation& observation, std::span<const std::int32_t> rows);
  void OpenClimbs(const Observation& observation, std::span<const std::int32_t> rows,
                  std::span<const GpuTypeIndex> types);
  void TakeFirstSteps(const Observation& observation, std::span<const std::int32_t> rows,
                      std::span<const Score> scores, std::span<const GpuTypeIndex> types,
                      std::vector<FillStep>* trace);
  void TakeGreedyPrefix(const Observation& observation, std::span<const std::int32_t> rows,
                        std::span<const Score> scores);

  void OpenSteps(std::span<const std::int32_t> rows, std::span<const Score> scores);
  void OfferOtherTypes(std::size_t best, const Score& score);

  HullFillOptions options_;
  SizedHulls hulls_;
  ServableRows servable_;
  TypeCapacity capacity_;
  std::vector<std::int32_t> order_;     // rows indices
  std::vector<HullCursor> cursors_;     // in that order
  std::vector<std::int32_t> index_of_;  // of each cursor: into rows
  GreedyPrefix prefix_;
  std::vector<std::int32_t> climbs_;  // cursors of prefix_'s climbs
  // The least worth of a step that the last fill took: where the next one need not look far below.
  float price_ = -std::numeric_limits<float>::infinity();
  std::vector<std::uint64_t> firsts_;  // packed keys of first steps and cursors
  std::size_t next_first_ = 0;         // of these
  std::vector<std::uint64_t> scratch_;
  std::vector<std::uint64_t> heap_;         // open steps: packed key and cursor, the best on top
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
// interval. `sizes`: only of these; null: of any.
void FillLeftovers(const Observation& observation, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> preference, TypeCapacity* capacity,
                   std::vector<std::int32_t>* chosen, const SizedHulls* sizes = nullptr);

}  // namespace allot
