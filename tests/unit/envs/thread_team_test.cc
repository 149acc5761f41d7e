#include "envs/thread_team.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

namespace allot {
namespace {

TEST(ThreadTeam, EveryPartRunsOnceInEverySection) {
  for (const int parts : {1, 2, 8}) {
    ThreadTeam team(parts);
    ASSERT_EQ(team.parts(), parts);
    std::vector<int> runs(static_cast<std::size_t>(parts));
    for (int section = 1; section <= 500; ++section) {
      team.Run([&](int part) { ++runs[static_cast<std::size_t>(part)]; });
      ASSERT_EQ(runs, std::vector<int>(static_cast<std::size_t>(parts), section));
    }
  }
}

TEST(ThreadTeam, ParkedThreadsWakeForTheNextSection) {
  ThreadTeam team(3);
  std::vector<int> runs(3);
  for (int section = 0; section < 3; ++section) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    team.Run([&](int part) { ++runs[static_cast<std::size_t>(part)]; });
  }
  EXPECT_EQ(runs, std::vector<int>(3, 3));
}

TEST(ThreadTeam, CallerWaitsForTheSlowestPart) {
  ThreadTeam team(3);
  std::vector<int> done(3);
  team.Run([&](int part) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 * part));
    done[static_cast<std::size_t>(part)] = 1;
  });
  EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 3);
}

TEST(ThreadTeam, UnusedTeamEnds) { const ThreadTeam team(4); }

}  // namespace
}  // namespace allot
