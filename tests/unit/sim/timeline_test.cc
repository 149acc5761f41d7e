#include "sim/timeline.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(Timeline, KeepsTheLastPointOfATime) {
  Timeline timeline;
  timeline.Note({.time = 0, .active = 1});
  timeline.Note({.time = 300, .active = 2});
  timeline.Note({.time = 300, .active = 3});
  ASSERT_EQ(timeline.points().size(), 2);
  EXPECT_EQ(timeline.points().back().active, 3);
}

TEST(Timeline, CompletionsFreeGpusInTheOrderOfTime) {
  Timeline timeline;
  std::vector<Timeline::Completion> completions = {{200, 4}, {100, 1}};
  timeline.NoteCompletions({.active = 3, .running = 2, .gpus_used = 5}, completions);
  ASSERT_EQ(timeline.points().size(), 2);
  EXPECT_EQ(timeline.points()[0].time, 100);
  EXPECT_EQ(timeline.points()[0].gpus_used, 4);
  EXPECT_EQ(timeline.points()[1].active, 1);
  EXPECT_EQ(timeline.points()[1].running, 0);
  EXPECT_EQ(timeline.points()[1].gpus_used, 0);
}

}  // namespace
}  // namespace allot
