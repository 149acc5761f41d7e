#include "core/team.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

namespace allot {
namespace {

// Threads in the place of processes.
struct Meeting {
  explicit Meeting(int size) : words(static_cast<std::size_t>(size)), barrier(size) {}
  std::vector<std::string> words;
  std::barrier<> barrier;
};

class ThreadTeam : public Team {
 public:
  ThreadTeam(int rank, Meeting* meeting) : rank_(rank), meeting_(meeting) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(meeting_->words.size()); }
  std::vector<std::string> Gather(const std::string& mine) override {
    meeting_->words[static_cast<std::size_t>(rank_)] = mine;
    meeting_->barrier.arrive_and_wait();
    std::vector<std::string> all = meeting_->words;
    meeting_->barrier.arrive_and_wait();
    return all;
  }

 private:
  int rank_;
  Meeting* meeting_;
};

// i values, none for item 0.
std::vector<double> Item(std::size_t i) {
  return std::vector<double>(i, 0.5 + static_cast<double>(i));
}

TEST(ComputeShared, GivesEverybodyAllResultsInOrder) {
  constexpr std::size_t kItems = 7;
  const auto alone = ComputeShared(*TeamOfOne(), kItems, 2, Item);
  ASSERT_EQ(alone.size(), kItems);
  EXPECT_EQ(alone[3], Item(3));
  for (const int size : {2, 3, 9}) {
    Meeting meeting(size);
    std::vector<std::vector<std::vector<double>>> of_rank(static_cast<std::size_t>(size));
    std::vector<int> computed(kItems, 0);
    {
      std::vector<std::jthread> ranks;
      ranks.reserve(static_cast<std::size_t>(size));
      for (int r = 0; r < size; ++r) {
        ranks.emplace_back([&, r] {
          ThreadTeam team(r, &meeting);
          of_rank[static_cast<std::size_t>(r)] = ComputeShared(team, kItems, 1, [&](std::size_t i) {
            ++computed[i];
            return Item(i);
          });
        });
      }
    }
    for (const auto& results : of_rank) EXPECT_EQ(results, alone) << "team of " << size;
    EXPECT_EQ(computed, std::vector<int>(kItems, 1)) << "team of " << size;
  }
}

TEST(AnyOf, HoldsForAllWhenItHoldsForOne) {
  for (const int one : {-1, 0, 2}) {
    Meeting meeting(3);
    std::vector<int> heard(3);
    {
      std::vector<std::jthread> ranks;
      ranks.reserve(3);
      for (int r = 0; r < 3; ++r) {
        ranks.emplace_back([&, r] {
          ThreadTeam team(r, &meeting);
          heard[static_cast<std::size_t>(r)] = AnyOf(team, r == one);
        });
      }
    }
    EXPECT_EQ(heard, std::vector<int>(3, one >= 0 ? 1 : 0));
  }
}

}  // namespace
}  // namespace allot
