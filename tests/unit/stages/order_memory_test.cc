#include "stages/order_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/rng.h"

namespace allot {
namespace {

struct Item {
  double key;
  JobIndex job;
  std::int8_t rank;
  Seconds attained;
  std::int32_t running;
  bool touched;  // in the last change
};

// Jobs come, end, leave for a while, run and stop; now and then rows do not ascend by job.
class OrderMemoryTest : public testing::Test {
 protected:
  void Change() {
    std::erase_if(items_, [&](const Item&) { return rng_.Below(10) == 0; });
    items_.insert(items_.end(), away_.begin(), away_.end());
    away_.clear();
    for (std::uint64_t i = rng_.Below(8); i > 0; --i)
      items_.push_back({0, next_++, 1, 0, -1, false});
    if (rng_.Below(4) != 0) {
      std::sort(items_.begin(), items_.end(),
                [](const Item& a, const Item& b) { return a.job < b.job; });
    }
    if (!items_.empty() && rng_.Below(3) == 0) {
      away_.push_back(items_.front());
      items_.erase(items_.begin());
    }
    const bool shuffle = rng_.Below(20) == 0;  // else keys drift a little, with many ties
    for (Item& item : items_) {
      item.running = static_cast<std::int32_t>(rng_.Below(3)) - 1;
      item.touched = item.running >= 0 || rng_.Below(3) == 0;
      if (!item.touched) continue;
      item.attained += 1;
      if (rng_.Below(50) == 0) item.rank = static_cast<std::int8_t>(rng_.Below(3));
      // Some of which differ in double precision only.
      item.key = shuffle ? 1e8 + static_cast<double>(rng_.Below(1000))
                         : item.key + static_cast<double>(rng_.Below(3));
    }
    // Every other row is not among the admitted ones.
    gap_ = rng_.Below(2) == 0 ? 1 : 2;
    o_ = {};
    o_.events.number = rng_.Below(10) == 0 ? number_ += 2 : ++number_;  // some are missed
    rows_.clear();
    for (const Item& item : items_) {
      rows_.push_back(o_.rows());
      for (std::int32_t i = 0; i < gap_; ++i) {
        o_.job.push_back(i == 0 ? item.job : 1000000 + item.job);
        o_.attained_seconds.push_back(item.attained);
        o_.running.push_back(item.running);
        if (i == 0 && item.touched) o_.events.changed.push_back(rows_.back());
      }
    }
  }

  // With keys of the touched ones only.
  void Ask(bool of_all) {
    memory_.Follow(o_, rows_);
    std::vector<std::int32_t> positions(memory_.touched().begin(), memory_.touched().end());
    if (of_all) {
      positions.clear();
      for (const std::int32_t row : rows_) positions.push_back(row / gap_);
    }
    std::vector<double> keys;
    std::vector<std::int8_t> ranks;
    for (const std::int32_t position : positions) {
      keys.push_back(items_[static_cast<std::size_t>(position)].key);
      ranks.push_back(items_[static_cast<std::size_t>(position)].rank);
    }
    memory_.Update(positions, keys, ranks);
  }

  Rng rng_{3, "order-memory-test"};
  std::int64_t number_ = 0;
  OrderMemory memory_;
  std::vector<Item> items_;
  std::vector<Item> away_;
  JobIndex next_ = 0;
  Observation o_;
  std::int32_t gap_ = 1;
  std::vector<std::int32_t> rows_;
};

TEST_F(OrderMemoryTest, SortsLikeSortWhateverIsRemembered) {
  for (int round = 0; round < 2000; ++round) {
    Change();
    Ask(rng_.Below(4) == 0);
    std::vector<Item> expected = items_;
    std::sort(expected.begin(), expected.end(), [](const Item& a, const Item& b) {
      return std::tuple(a.rank, a.key, a.job) < std::tuple(b.rank, b.key, b.job);
    });
    ASSERT_EQ(memory_.order().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto position = static_cast<std::size_t>(memory_.order()[i]);
      ASSERT_EQ(items_[position].job, expected[i].job) << "round " << round << ", place " << i;
      ASSERT_EQ(memory_.keys()[i], expected[i].key) << "round " << round << ", place " << i;
    }
    if (rng_.Below(100) == 0) memory_.Forget();
  }
}

TEST_F(OrderMemoryTest, NamesThoseThatLeave) {
  std::set<JobIndex> known;
  for (int round = 0; round < 200; ++round) {
    Change();
    Ask(false);
    for (const JobIndex job : memory_.gone()) known.erase(job);
    for (const std::int32_t position : memory_.touched()) {
      known.insert(items_[static_cast<std::size_t>(position)].job);
    }
    for (const Item& item : items_) ASSERT_TRUE(known.contains(item.job)) << "round " << round;
    ASSERT_EQ(known.size(), items_.size()) << "round " << round;
  }
}

}  // namespace
}  // namespace allot
