// The order that advice gives a queue, and what it says of waits.

#include "advice/advised_order.h"

#include <gtest/gtest.h>

#include "stages/key_order.h"
#include "tests/unit/advice/fake_queue.h"

namespace allot {
namespace {

using testing_support::kNow;
using testing_support::QueueOf;
using testing_support::Waiting;
using Order = std::vector<std::size_t>;

ALLOT_REGISTER(OrderingInfo, KeyOrderInfo("longest", "longest job first",
                                          [](const Observation& o, std::size_t row) {
                                            return -o.estimated_work[row];
                                          },
                                          {"preemptive", "false", "whether it stops jobs"}));

AdvisedOrder OrderOf(const AdvisedQueue& queue, const char* policy = "sjf") {
  return OrderQueue(queue, kNow, {}, *MakePolicy(policy), 1000);
}

TEST(AdvisedOrder, BringsTheShortJobsOfAUserFirst) {
  const auto queue = QueueOf(
      {Waiting(1, "ann", 30, 7200), Waiting(2, "ann", 20, 3600), Waiting(3, "ann", 10, 60)});
  const AdvisedOrder order = OrderOf(queue);
  EXPECT_EQ(order.own, (Order{0, 1, 2}));
  EXPECT_EQ(order.advised, (Order{2, 1, 0}));
  EXPECT_LT(order.all.advised, order.all.own);
}

TEST(AdvisedOrder, LeavesEachUserHisPlaces) {
  const auto queue = QueueOf({Waiting(1, "ann", 40, 7200), Waiting(2, "bob", 30, 3600),
                              Waiting(3, "ann", 20, 60), Waiting(4, "bob", 10, 600)});
  EXPECT_EQ(OrderOf(queue).advised, (Order{2, 3, 0, 1}));
}

TEST(AdvisedOrder, JobsThatAreLeftAloneKeepTheirPlaces) {
  auto queue =
      QueueOf({Waiting(1, "ann", 50, 7200), Waiting(2, "ann", 40, 600), Waiting(3, "bob", 30, 3600),
               Waiting(4, "ann", 20, 7200), Waiting(5, "ann", 10, 60)});
  queue.waiting[2].left_alone = "has a Nice of its own";
  const AdvisedOrder order = OrderOf(queue);
  EXPECT_EQ(order.advised, (Order{1, 0, 4, 3}));
  EXPECT_EQ(order.nice, (std::vector<int>{11, 0, 0, 11, 0}));
  EXPECT_EQ(order.all.jobs, 5);
}

TEST(AdvisedOrder, JobsOfTheRecordAreNobodysPlace) {
  auto queue = QueueOf({Waiting(1, "ann", 20, 7200), Waiting(2, "ann", 10, 60)});
  QueuedJob begins_later = Waiting(9, "bob", 50, 7200);
  begins_later.start = kNow + 5;
  queue.running.push_back(begins_later);
  EXPECT_EQ(OrderOf(queue).advised, (Order{1, 0}));
}

TEST(AdvisedOrder, DoesNotCountJobsThatDoNotCompete) {
  auto queue = QueueOf({Waiting(1, "ann", 40, 7200), Waiting(2, "ann", 30, 3600)});
  queue.waiting[0].left_alone = "held";
  queue.waiting[0].competes = false;
  const AdvisedOrder order = OrderOf(queue);
  EXPECT_EQ(order.advised, (Order{1}));
  EXPECT_EQ(order.all.jobs, 1);
}

TEST(AdvisedOrder, StopsNoRunningJob) {
  auto queue = QueueOf({Waiting(1, "ann", 40, 60)});
  QueuedJob runs = Waiting(9, "bob", 50, 7200);
  runs.start = kNow - 100;
  queue.running.push_back(runs);
  const AdvisedOrder order = OrderOf(queue, "srtf");
  EXPECT_NEAR(order.all.own, 600 + 7100, 120);
  EXPECT_NEAR(order.all.advised, order.all.own, 1e-6);
}

TEST(AdvisedOrder, UsesTheSchedulersOrderWithoutTheNiceOfAdvice) {
  auto queue = QueueOf({Waiting(1, "ann", 10), Waiting(2, "ann", 20)});
  queue.waiting[0].nice = 30;
  EXPECT_EQ(OrderOf(queue).own, (Order{0, 1}));
}

// Longest job first makes the wait of its only user longer.
TEST(AdvisedOrder, IsRefusedWhereAUserWouldWaitMuchLonger) {
  const auto queue = QueueOf(
      {Waiting(1, "ann", 30, 60), Waiting(2, "ann", 20, 3600), Waiting(3, "ann", 10, 86400)});
  const AdvisedOrder order = OrderOf(queue, "sjf:ordering=longest");
  EXPECT_NE(order.refused.find("user ann"), std::string::npos);
  EXPECT_EQ(order.advised, order.own);
}

}  // namespace
}  // namespace allot
