#include "live/runtimes/slurm/slurm_chores.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <map>
#include <vector>

namespace allot {
namespace {

constexpr Seconds kCall = 0.05;

// Chores whose calls last kCall by the test's own clock, and are written down.
class SlurmChoresTest : public testing::Test {
 protected:
  SlurmChoresTest() { spdlog::set_level(spdlog::level::off); }

  void Ask(SlurmChore chore, std::uint32_t job) {
    chores_.Add(chore, job, [this, job] {
      now_ += kCall;
      ++calls_[job];
      order_.push_back(job);
      return refuses_ ? Status::Refused("no") : Status::Ok();
    });
  }

  Seconds now_ = 100;
  bool refuses_ = false;
  std::map<std::uint32_t, int> calls_;
  std::vector<std::uint32_t> order_;
  SlurmChores chores_{[this] { return now_; }};
};

TEST_F(SlurmChoresTest, AFloodIsDoneAPartALook) {
  constexpr std::uint32_t kMany = 1000;
  int looks = 0;
  while (calls_.size() < kMany && ++looks < 1000) {
    for (std::uint32_t job = 0; job < kMany; ++job) {
      if (!calls_.contains(job)) Ask(SlurmChore::kLeaveToSlurm, job);
    }
    const Seconds begin = now_;
    chores_.Do();
    EXPECT_LE(now_ - begin, SlurmChores::kMostTime + 2 * kCall);
  }
  EXPECT_EQ(calls_.size(), kMany) << "each has its turn";
  for (const auto& [job, calls] : calls_) EXPECT_EQ(calls, 1) << job;
}

TEST_F(SlurmChoresTest, WhatDecisionsWaitForIsDoneFirst) {
  Ask(SlurmChore::kTell, 1);
  Ask(SlurmChore::kLeaveToSlurm, 2);
  Ask(SlurmChore::kGiveBack, 3);
  Ask(SlurmChore::kLeaveToSlurm, 4);
  chores_.Do();
  EXPECT_EQ(order_, (std::vector<std::uint32_t>{3, 2, 4, 1}));
}

TEST_F(SlurmChoresTest, WhatIsRefusedIsAskedForLessAndLess) {
  refuses_ = true;
  int looks = 0;
  for (const Seconds begin = now_; now_ < begin + 600; now_ += 0.5, ++looks) {
    Ask(SlurmChore::kLeaveToSlurm, 7);
    chores_.Do();
  }
  EXPECT_GT(looks, 1000);
  EXPECT_LE(calls_.at(7), 6 + 600 / SlurmChores::kLongestRest + 1);
  EXPECT_GE(calls_.at(7), 600 / SlurmChores::kLongestRest) << "it may be taken some day";
}

TEST_F(SlurmChoresTest, RefusedOnesHoldNoOtherUp) {
  refuses_ = true;
  for (std::uint32_t job = 0; job < 5; ++job) Ask(SlurmChore::kLeaveToSlurm, job);
  chores_.Do();
  refuses_ = false;
  for (std::uint32_t job = 0; job < 6; ++job) Ask(SlurmChore::kLeaveToSlurm, job);
  chores_.Do();
  EXPECT_EQ(order_.back(), 5U);
  EXPECT_EQ(order_.size(), 6U) << "the others rest";
}

TEST_F(SlurmChoresTest, OfWhatIsNoLongerAskedForNothingIsKept) {
  refuses_ = true;
  Ask(SlurmChore::kLeaveToSlurm, 7);
  chores_.Do();
  EXPECT_EQ(chores_.refused(), 1U);
  chores_.Do();
  EXPECT_EQ(chores_.refused(), 0U);
}

}  // namespace
}  // namespace allot
