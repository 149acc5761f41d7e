#pragma once
// The place of each of many floats in their ascending order: for features that are ranks. The
// values of one decision are mostly in the order of the last one's, and where they are that takes
// one pass.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace allot {

class Ranks {
 public:
  // places[i]: how many values come before values[i]; of equal ones, those of smaller id do, ids
  // being different. -0 equals 0, NaN is beyond infinity. Valid until the next call; allocates only
  // for more values than before. O(n) for many with ascending ids.
  std::span<const std::int32_t> Of(std::span<const float> values,
                                   std::span<const std::int32_t> ids);

 private:
  void Rank(std::span<const float> values);  // equal ones by index

  std::vector<std::int32_t> places_;
  std::vector<std::int32_t> by_id_;  // indices; and of what they name, in that order:
  std::vector<float> values_by_id_;
  std::vector<std::int32_t> places_by_id_;
  std::vector<std::uint64_t> words_;  // in order; kept for the next call
  std::vector<std::uint64_t> scratch_;
};

}  // namespace allot
