#include "cluster/event_finder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// Observed at 1000 s: job 0 runs on 2 GPUs at rate 2, job 1, which asks for 1, waits.
class EventFinderTest : public testing::Test {
 protected:
  EventFinderTest() : before_("1x4"), after_("1x4") {
    before_.Add({{1, 2}}, 2);
    before_.Add({{1, 2}}, 1);
    before_.Run(0, 1, {{0, 0b0011}});
    before_.o.attained_gpu_seconds = {500, 40};
    before_.o.done_work = {250, 40};
    before_.o.estimated_work = {600, kUnknown};
    before_.o.now = 1000;
    after_.o.now = 1300;
  }
  World before_;
  World after_;  // nobody is left
  EventFinder finder_;
};

TEST_F(EventFinderTest, TellsWhoHasEndedAndWhatTheyTook) {
  finder_.Find(&before_.o);
  EXPECT_EQ(before_.o.events.arrived, (std::vector<std::int32_t>{0, 1}));
  EXPECT_TRUE(before_.o.events.ended.empty());
  finder_.Find(&after_.o);
  const auto& ended = after_.o.events.ended;
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].job, 0);
  EXPECT_EQ(ended[0].requested_gpus, 2);
  EXPECT_DOUBLE_EQ(ended[0].end, 1150);
  EXPECT_DOUBLE_EQ(ended[0].gpu_seconds, 500 + 2 * 150);
  EXPECT_DOUBLE_EQ(ended[0].requested_seconds(), 250.0 / 2 + 150);
  EXPECT_DOUBLE_EQ(ended[0].estimated_seconds(), 300);
  EXPECT_EQ(ended[1].job, 1);
  EXPECT_DOUBLE_EQ(ended[1].gpu_seconds, 40 + 150);
  EXPECT_TRUE(std::isnan(ended[1].estimated_seconds()));
  finder_.Find(&after_.o);
  EXPECT_TRUE(after_.o.events.ended.empty()) << "told once";
}

TEST_F(EventFinderTest, AnEndIsInTheLastIntervalHoweverLongNobodyAsked) {
  finder_.Find(&before_.o);
  after_.o.now = 10000;
  finder_.Find(&after_.o);
  EXPECT_DOUBLE_EQ(after_.o.events.ended[0].gpu_seconds, 500 + 2 * (9850.0 - 1000));
}

TEST_F(EventFinderTest, NamesRowsThatChangeInAnyOrderOfRows) {
  World now("1x4");
  for (int i = 0; i < 4; ++i) now.Add({{1, 2}}, 1);
  finder_.Find(&now.o);
  now.Run(1, 0, {{0, 0b0001}});
  now.Run(2, 0, {{0, 0b0010}});
  Observation turned = testing_support::Permuted(now.o, {2, 3, 0, 1});
  finder_.Find(&turned);
  EXPECT_EQ(turned.events.changed, (std::vector<std::int32_t>{0, 3}));
  EXPECT_TRUE(turned.events.arrived.empty());
  EXPECT_TRUE(turned.events.table_changed.empty());
  ++now.o.changes[1];                               // it was moved
  const ConfigurationTable same = *now.o.table[1];  // at another address
  const ConfigurationTable other = now.o.table[0]->WithRates(std::vector<double>{1, 3});
  now.o.table[0] = &other;
  now.o.table[1] = &same;
  finder_.Find(&now.o);
  EXPECT_EQ(now.o.events.changed, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(now.o.events.table_changed, (std::vector<std::int32_t>{0}));
}

TEST_F(EventFinderTest, ANewEpisodeForgets) {
  finder_.Find(&before_.o);
  finder_.Reset();
  finder_.Find(&after_.o);
  EXPECT_TRUE(after_.o.events.ended.empty());
  EXPECT_EQ(after_.o.events.number, 1);
}

TEST(EventCursorTest, KnowsWhatItMissed) {
  using Step = EventCursor::Step;
  Events events;
  EventCursor cursor;
  EXPECT_EQ(cursor.Follow(events), Step::kMissed) << "nobody tells";
  events.number = 1;
  EXPECT_EQ(cursor.Follow(events), Step::kNext);
  EXPECT_EQ(cursor.Follow(events), Step::kAgain);
  events.number = 3;
  EXPECT_EQ(cursor.Follow(events), Step::kMissed);
  events.number = 4;
  EXPECT_EQ(cursor.Follow(events), Step::kNext);
  cursor.Reset();
  EXPECT_EQ(cursor.Follow(events), Step::kMissed);
}

}  // namespace
}  // namespace allot
