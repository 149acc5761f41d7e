#pragma once
// Which rows of a long queue a hull fill needs to look at. Jobs that wait and have one and the same
// configuration are served by falling keys, and never more of them than the cluster holds: the
// others get nothing, whatever else is in the queue. Used by HullFill.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"
#include "stages/fill/capacity.h"
#include "stages/fill/hull_cursor.h"
#include "stages/fill/sized_hulls.h"

namespace allot {

class ServableRows {
 public:
  // False where that leaves out too little: few rows, or jobs of many kinds. Also where what is
  // free need not shrink from step to step, or rows are not in the order of submission. Then all
  // rows must be looked at. O(rows); no allocation in steady state.
  bool Find(const Observation& observation, std::span<const std::int32_t> rows,
            std::span<const Score> scores, const HullFillOptions& options, SizedHulls* hulls);

  // Those that may be served, in the order in which they came, and their scores.
  std::span<const std::int32_t> rows() const { return rows_; }
  std::span<const Score> scores() const { return scores_; }

  // Whether one that was left out fits into what a fill has left. A fill never leaves that, unless
  // it gave a job less than it had taken for it before.
  bool AnyOtherFits(const TypeCapacity& free) const;

 private:
  static constexpr std::size_t kMostKinds = 64;
  struct Kind {
    const ConfigurationTable* table = nullptr;
    const std::vector<HullStep>* hull = nullptr;
    std::size_t most = 0;             // of them at once on the whole cluster; 0: all are looked at
    std::vector<std::uint64_t> best;  // entries of key and index; a heap, the least on top
    bool others = false;              // some were left out
  };
  Kind* KindOf(const Observation& observation, const ConfigurationTable& table, SizedHulls* hulls);
  static void Offer(std::uint64_t entry, Kind* kind);

  std::vector<Kind> kinds_;  // the first kind_count_; what is behind keeps its memory
  std::size_t kind_count_ = 0;
  std::array<std::int8_t, 2 * kMostKinds> slots_{};  // by address of the table: kind, -1: free
  std::vector<std::size_t> indices_;                 // into the rows that were given
  std::vector<std::int32_t> rows_;
  std::vector<Score> scores_;
};

}  // namespace allot
