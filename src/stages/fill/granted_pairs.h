#pragma once
// Jobs that share GPUs, from a type assignment with partners to grants: of each pair the first job
// is granted something like a job alone; who serves the grants then learns beside whom.

#include <span>
#include <vector>

#include "sched/stages.h"
#include "stages/fill/paired_placement.h"

namespace allot {

class GrantedPairs {
 public:
  void Clear() { pairs_.clear(); }
  bool empty() const { return pairs_.empty(); }

  // What a type assignment answered for these rows at these sizes. `partners` may be empty.
  void Read(const Observation& observation, std::span<const std::int32_t> order,
            std::span<const std::int32_t> sizes, std::span<const GpuTypeIndex> types,
            std::span<const std::int32_t> partners);

  // Whether a row is the second of a pair: it gets no grant of its own.
  bool IsSecond(std::int32_t row) const {
    return !pairs_.empty() && role_[static_cast<std::size_t>(row)] == kSecond;
  }

  // The same grants with their pairs, all others alone. Of a job that was granted another size or
  // type than it was paired for, the second waits.
  void Apply(const Observation& observation, std::span<const Grant> grants,
             std::vector<PairedGrant>* paired) const;

 private:
  static constexpr std::int32_t kAloneRole = -1;
  static constexpr std::int32_t kSecond = -2;
  std::vector<PairedGrant> pairs_;
  std::vector<std::int32_t> role_;  // by row: which of pairs_ it is the first of
};

}  // namespace allot
