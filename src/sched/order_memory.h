#pragma once
// Sorts what was sorted a moment ago. From one decision to the next most jobs keep their rank and
// key, and most of the others their order: only those that do not are sorted, the rest is merged,
// O(rows + moved log moved). The result does not depend on what is remembered. Kept by
// StagedPolicy.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"

namespace allot {

class OrderMemory {
 public:
  void Forget();

  // Rows and keys by (rank, key, job), least first: rows[i] is the job job_of_row[rows[i]], each
  // another, and has keys[i] and ranks[i].
  void Sort(std::span<const std::int32_t> rows, std::span<const JobIndex> job_of_row,
            std::span<const double> keys, std::span<const std::int8_t> ranks,
            std::vector<std::int32_t>* sorted_rows, std::vector<double>* sorted_keys);

 private:
  struct Item {
    double key;
    JobIndex job;
    std::int32_t row;
    std::int8_t rank;
    friend bool operator<(const Item& a, const Item& b) {
      if (a.rank != b.rank) return a.rank < b.rank;
      if (a.key != b.key) return a.key < b.key;
      return a.job < b.job;
    }
  };
  struct Known {
    double key = 0;
    std::int32_t row = 0;
    std::int32_t call = 0;  // the latest Sort that had the job
    std::int8_t rank = 0;
    bool changed = false;  // in that call
  };
  void Split();
  void SortChanged();

  std::int32_t call_ = 0;
  std::vector<Known> known_;    // by job
  std::vector<JobIndex> last_;  // the order of the last call
  std::vector<Item> kept_;
  std::vector<Item> fresh_;  // not in the last order
  std::vector<Item> changed_;
};

}  // namespace allot
