#pragma once
// The order of the jobs, kept from one decision to the next. Most rows do not change: Match() finds
// the few that are new, have run, started or stopped; Update() sorts those whose rank or key has
// changed and merges them in. The rest is a pass over arrays of numbers,
// O(rows + changed log changed). The resulting order does not depend on what is kept. Kept by
// StagedPolicy.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/observation.h"

namespace allot {

class OrderMemory {
 public:
  void Forget();

  // `rows` are those to be ordered from now on. Positions count in them.
  void Match(const Observation& observation, std::span<const std::int32_t> rows);
  // Positions, ascending, of jobs that were not there at the last Match, or have attained service,
  // started or stopped since.
  std::span<const std::int32_t> touched() const { return touched_; }
  // Jobs that were there and are no longer.
  std::span<const JobIndex> gone() const { return gone_; }

  // Keys and ranks of these positions (ascending, all new ones among them); others keep theirs.
  void Update(std::span<const std::int32_t> positions, std::span<const double> keys,
              std::span<const std::int8_t> ranks);

  // Positions by (rank, key, job), least first, and their keys.
  std::span<const std::int32_t> order() const { return order_; }
  std::span<const double> keys() const { return order_keys_; }

 private:
  // A piece of the rows that was there before, in one piece too.
  struct Piece {
    std::int32_t before;
    std::int32_t now;
    std::int32_t length;
  };
  // Places of the order, [begin, end), that are empty while it is changed.
  struct Gap {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Whether a position comes before another: by (rank, key, job). Looks at the columns as they are.
  struct Before {
    const std::int8_t* rank;
    const double* key;
    const JobIndex* job;
    bool operator()(std::int32_t a, std::int32_t b) const;
  };
  // What is remembered of a row: one element per position.
  struct Columns {
    std::vector<JobIndex> job;
    std::vector<Seconds> attained;
    std::vector<std::int32_t> running;
  };

  void Read(const Observation& observation, std::span<const std::int32_t> rows);
  void MatchPiece(std::size_t before, std::size_t now, std::size_t length);
  void MoveColumns();
  Before Order() const { return {rank_.data(), key_.data(), known_.job.data()}; }
  void MapPositions();
  Gap DropChanged(const std::vector<std::int32_t>& position_now, std::size_t to_drop);
  void SortChanged();
  void SortManyChanged();
  void MergeChanged(Gap gap);
  void MoveUp(Gap* gap, std::size_t count);
  void ResizeGap(Gap* gap, std::size_t size);

  Columns known_;
  Columns read_;  // the present rows, while they are compared
  std::vector<double> key_;
  std::vector<std::int8_t> rank_;
  std::vector<std::int32_t> order_;
  std::vector<double> order_keys_;
  std::vector<std::int32_t> touched_;
  std::vector<JobIndex> gone_;
  std::vector<Piece> pieces_;
  std::size_t positions_before_ = 0;
  bool moved_ = false;  // positions are not what they were in order_
  // Scratch. Of a position before: the one now, kGone, or kChanged less the one now.
  std::vector<std::int32_t> position_now_;
  std::vector<std::int32_t>
      ascending_;                      // 0, 1, 2, ...; where none moved, position_now_ for a while
  std::vector<std::int32_t> changed_;  // positions now
  std::vector<std::int32_t> fresh_;    // positions now, of no position before
  std::vector<std::int32_t> unsorted_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> scratch_words_;
  std::vector<double> moved_keys_;
  std::vector<std::int8_t> moved_ranks_;
};

}  // namespace allot
