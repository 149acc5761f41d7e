#include "core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace allot {
namespace {

TEST(ParallelFor, RunsEveryIndexOnce) {
  for (const int threads : {0, 1, 2, 8}) {
    std::vector<int> runs(1000);
    ParallelFor(runs.size(), threads, [&](std::size_t i) { ++runs[i]; });
    EXPECT_EQ(runs, std::vector<int>(1000, 1)) << threads << " threads";
  }
}

TEST(ParallelFor, NothingToDo) {
  ParallelFor(0, 4, [](std::size_t) { FAIL() << "body called"; });
}

TEST(ParallelFor, OneThreadStaysInline) {
  std::set<std::thread::id> seen;
  ParallelFor(10, 1, [&](std::size_t) { seen.insert(std::this_thread::get_id()); });
  EXPECT_EQ(seen, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(ParallelFor, ThreadsReallyRunTogether) {
  // Each index waits for the other; on one thread this would never end.
  std::atomic<int> arrived{0};
  ParallelFor(2, 2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ParallelFor, ThrowsTheErrorOfTheLowestIndex) {
  for (const int threads : {1, 2, 8}) {
    try {
      ParallelFor(100, threads, [](std::size_t i) {
        if (i == 3) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        if (i >= 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "no exception with " << threads << " threads";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3") << threads << " threads";
    }
  }
}

TEST(ParallelFor, MayBeNested) {
  std::vector<std::vector<int>> table(4, std::vector<int>(5));
  ParallelFor(4, 2, [&](std::size_t i) {
    ParallelFor(5, 2, [&](std::size_t j) { table[i][j] = static_cast<int>(10 * i + j); });
  });
  EXPECT_EQ(table[3][4], 34);
  EXPECT_EQ(table[1][0], 10);
}

TEST(CoreCount, IsAtLeastOne) { EXPECT_GE(CoreCount(), 1); }

}  // namespace
}  // namespace allot
