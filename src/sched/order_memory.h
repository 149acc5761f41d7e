#pragma once
// Sorts what was sorted a moment ago. From one decision to the next most jobs keep their rank and
// key: those are still in order among themselves, and only the others are sorted and merged in,
// O(rows + changed log changed). The result does not depend on what is remembered. Kept by
// StagedPolicy.

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"

namespace allot {

class OrderMemory {
 public:
  struct Item {
    double key;
    JobIndex job;  // different in every item
    std::int32_t row;
    std::int8_t rank;
  };

  void Forget();

  // Rows and keys of the items by (rank, key, job), least first.
  void Sort(std::span<const Item> items, std::vector<std::int32_t>* rows,
            std::vector<double>* keys);

 private:
  struct Known {
    double key = 0;
    std::int64_t call = 0;  // the latest Sort that had the job
    std::int32_t row = 0;
    std::int8_t rank = 0;
    bool changed = true;  // in that call
  };
  static bool Before(const Item& a, const Known& b, JobIndex b_job) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.key != b.key) return a.key < b.key;
    return a.job < b_job;
  }
  void FindChanged(std::span<const Item> items);

  std::int64_t call_ = 0;
  std::vector<Known> known_;  // by job
  std::vector<JobIndex> last_;
  std::vector<JobIndex> order_;
  std::vector<Item> changed_;
};

}  // namespace allot
