#pragma once
// The order of the jobs, kept from one decision to the next. Most rows do not change: the
// observation's events name those that do; Update() sorts those whose rank or key has changed and
// merges them in. The rest is a pass over arrays of numbers, O(rows + changed log changed). The
// resulting order does not depend on what is kept. Kept by
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

  // `rows` are those to be ordered from now on. Positions count in them. `running_touches`: whether
  // touched() is asked for those that run too.
  void Follow(const Observation& observation, std::span<const std::int32_t> rows,
              bool running_touches = true);
  // Positions, ascending: changed(), and those that run. All of them where the events do not go
  // back that far.
  std::span<const std::int32_t> touched() const {
    return running_touches_ ? touched_ : changed_positions_;
  }
  // Positions, ascending, of jobs that were not there the last time, have started, stopped or been
  // resized since, or have another table. All of them where the events do not go back that far.
  std::span<const std::int32_t> changed() const { return changed_positions_; }
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

  void FindPieces(const Observation& observation, std::span<const std::int32_t> rows);
  void FindTouched(const Observation& observation, std::span<const std::int32_t> rows);
  void FindTouchedOfAll(const Observation& observation);
  void FindTouchedOfSome(const Observation& observation, std::span<const std::int32_t> rows);
  void MoveColumns();
  Before Order() const { return {rank_.data(), key_.data(), known_.data()}; }
  void MapPositions();
  Gap DropChanged(const std::vector<std::int32_t>& position_now, std::size_t to_drop);
  void SortChanged();
  void SortManyChanged();
  void MergeChanged(Gap gap);
  void MoveUp(Gap* gap, std::size_t count);
  void ResizeGap(Gap* gap, std::size_t size);

  EventCursor events_;
  std::vector<JobIndex> known_;  // by position
  std::vector<JobIndex> read_;   // the present ones, while they are compared
  std::vector<double> key_;
  std::vector<std::int8_t> rank_;
  std::vector<std::int32_t> order_;
  std::vector<double> order_keys_;
  std::vector<std::int32_t> touched_;
  std::vector<std::int32_t> changed_positions_;
  std::vector<JobIndex> gone_;
  std::vector<Piece> pieces_;
  std::size_t positions_before_ = 0;
  bool moved_ = false;  // positions are not what they were in order_
  bool running_touches_ = true;
  // Scratch. Of a position before: the one now, kGone, or kChanged less the one now.
  std::vector<std::int32_t> position_now_;
  std::vector<std::int32_t>
      ascending_;                      // 0, 1, 2, ...; where none moved, position_now_ for a while
  std::vector<std::int32_t> changed_;  // positions now
  std::vector<std::int32_t> by_number_;  // the same, ascending
  std::vector<std::int32_t> fresh_;      // positions now, of no position before
  std::vector<std::uint8_t> touch_;      // by row
  std::vector<std::int32_t> merged_;
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> scratch_words_;
  std::vector<double> moved_keys_;
  std::vector<std::int8_t> moved_ranks_;
};

}  // namespace allot
