#include "live/screens/top.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace allot {
namespace {

TopView Small() {
  TopView view;
  view.title = "policy las";
  view.now = 3600;
  view.nodes = {{"a", "v100", 8, 6}, {"b", "v100", 8, 0, NodeState::kDown}};
  view.jobs = {{"waiting", "eve", "waits", 0, "2", "", {}, 60},
               {"small", "bob", "runs", 2, "1-4", "a:2", 0.5, 120},
               {"large", "eve", "runs", 4, "4", "a:4", 0.1, 60}};
  return view;
}

TEST(Top, CountsGpusThatAreThere) {
  const std::string screen = DrawTop(Small(), {}, 40, 100);
  EXPECT_NE(screen.find("6 of 8 in use, 75.0 %"), std::string::npos) << screen;
  EXPECT_NE(screen.find("running 2, waiting 1"), std::string::npos) << screen;
}

TEST(Top, ShowsLargeJobsFirstAndWaitingOnesLast) {
  const std::string screen = DrawTop(Small(), {}, 40, 100);
  EXPECT_LT(screen.find("large"), screen.find("small"));
  EXPECT_LT(screen.find("small"), screen.find("waiting  "));
}

TEST(Top, FitsIntoTheTerminal) {
  TopView view = Small();
  for (int n = 0; n < 300; ++n) view.nodes.push_back({"node" + std::to_string(n), "", 8, 1});
  for (int j = 0; j < 300; ++j) {
    view.jobs.push_back({"j\xC3\xA4" + std::to_string(j), "", "waits", 0, "1", "", {}, 1});
  }
  const std::deque<std::string> events(50, "something happened");
  for (const auto& [rows, columns] : {std::pair(24, 80), std::pair(12, 30), std::pair(60, 200)}) {
    const std::string screen = DrawTop(view, events, rows, columns);
    EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), rows);
    std::size_t begin = 0;
    for (std::size_t end; (end = screen.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const auto letters = std::count_if(screen.begin() + static_cast<std::ptrdiff_t>(begin),
                                         screen.begin() + static_cast<std::ptrdiff_t>(end),
                                         [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(letters, columns);
    }
    EXPECT_NE(screen.find("more nodes"), std::string::npos) << screen;
  }
}

TEST(Top, TellsWhatHappened) {
  const TopView before = Small();
  TopView now = before;
  now.now = 7200;
  now.nodes[1].state = NodeState::kUp;
  now.jobs = {{"waiting", "eve", "runs", 2, "2", "b:2", {}, 60},
              {"small", "bob", "runs", 4, "1-4", "a:4", 0.5, 120},
              {"new", "eve", "waits", 0, "3", "", {}, 0}};
  EXPECT_EQ(EventsBetween(before, now),
            (std::vector<std::string>{
                "  2h 00m  node b is back", "  2h 00m  job waiting begins on 2 GPUs",
                "  2h 00m  job small grows from 2 to 4 GPUs",
                "  2h 00m  job new comes and asks for 3", "  2h 00m  job large has ended"}));
  EXPECT_TRUE(EventsBetween(now, now).empty());
}

}  // namespace
}  // namespace allot
