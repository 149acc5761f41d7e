// What advice is worth: each job once, over days, and what is known after a restart.

#include "advice/advice_worth.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/unit/advice/fake_queue.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using testing_support::kNow;
using testing_support::QueueOf;
using testing_support::TempFolder;
using testing_support::Waiting;

constexpr Seconds kDay = 86400;

class AdviceWorthTest : public testing::Test {
 protected:
  // One round in which this job waits.
  void See(AdviceWorth* worth, int number, const std::string& user, JobWait wait, Seconds now) {
    AdvisedOrder order;
    order.waits = {wait};
    worth->See(QueueOf({Waiting(number, user, 100)}), order, now);
  }
  WorthReport Read() const { return AdviceWorth(path_).Between(kNow - 7 * kDay, kNow); }

  TempFolder folder_;
  std::filesystem::path path_ = folder_ / "worth.jsonl";
};

TEST_F(AdviceWorthTest, AJobCountsOnceAsItWasFirstSeen) {
  AdviceWorth worth(path_);
  See(&worth, 1, "ann", {100, 50}, kNow - 60);
  See(&worth, 1, "ann", {900, 800}, kNow);
  const WorthReport report = Read();
  EXPECT_EQ(report.all.jobs, 1);
  EXPECT_EQ(report.all.own, 100);
  EXPECT_EQ(report.all.shorter.value, 0.5);
}

TEST_F(AdviceWorthTest, AJobThatIsNotSimulatedDoesNotCount) {
  AdviceWorth worth(path_);
  See(&worth, 1, "ann", {}, kNow);
  EXPECT_EQ(Read().all.jobs, 0);
}

TEST_F(AdviceWorthTest, WhatCameIsTheWaitUntilTheStart) {
  {
    AdviceWorth worth(path_);
    See(&worth, 1, "ann", {100, 50}, kNow - 60);
    See(&worth, 2, "bob", {300, 350}, kNow - 60);
  }
  AdviceWorth again(path_);
  again.SeeStarts(
      {{"1", {.submit = kNow - 600, .start = kNow - 520}}, {"2", {.submit = kNow - 600}}});
  const WorthReport report = Read();
  EXPECT_EQ(report.all.started, 1);
  EXPECT_EQ(report.all.came, 80);
  ASSERT_EQ(report.users.size(), 2U);
  EXPECT_EQ(report.users[0].user, "bob");  // who would wait longest
  EXPECT_NEAR(report.users[0].worth.shorter.value, -1.0 / 6, 1e-12);
}

TEST_F(AdviceWorthTest, AnotherJobOfTheSameNumberHasNotStarted) {
  AdviceWorth worth(path_);
  See(&worth, 1, "ann", {100, 50}, kNow);
  worth.SeeStarts({{"1", {.submit = kNow, .start = kNow + 5}}});
  EXPECT_EQ(Read().all.started, 0);
}

TEST_F(AdviceWorthTest, TheIntervalIsOverDaysAndNeedsThree) {
  AdviceWorth worth(path_);
  See(&worth, 1, "ann", {100, 50}, kNow - 2 * kDay);
  See(&worth, 2, "ann", {100, 90}, kNow - kDay);
  EXPECT_TRUE(std::isnan(Read().all.shorter.low));
  See(&worth, 3, "ann", {100, 70}, kNow);
  const Estimate shorter = Read().all.shorter;
  EXPECT_NEAR(shorter.value, 0.3, 1e-12);
  EXPECT_NEAR(shorter.low, 0.1, 0.05);
  EXPECT_NEAR(shorter.high, 0.5, 0.05);
}

TEST_F(AdviceWorthTest, WeeksBeforeDoNotCount) {
  AdviceWorth worth(path_);
  See(&worth, 1, "ann", {100, 50}, kNow - 8 * kDay);
  EXPECT_EQ(Read().all.jobs, 0);
}

TEST_F(AdviceWorthTest, ALineThatIsNoRecordIsNamed) {
  std::ofstream(path_) << R"({"what": "ended", "job": "1", "submit": 5})"
                       << "\n";
  ExpectError(ExitCode::kBadData, {"a record of worth must say seen or started", "worth.jsonl:1"},
              [&] { AdviceWorth worth(path_); });
}

TEST(WorthReport, SaysWhoWouldWaitLonger) {
  WorthReport report{.from = kNow - 7 * kDay, .until = kNow};
  report.all = {.jobs = 3, .own = 600, .advised = 450, .shorter = {0.25, 0.1, 0.4}};
  report.users = {{"ann", "lab", {.jobs = 1, .own = 100, .advised = 106, .shorter = {-0.06}}}};
  const std::string text = WorthText(report);
  EXPECT_NE(text.find("25 % [10, 40]"), std::string::npos) << text;
  EXPECT_NE(text.find("6 % longer"), std::string::npos) << text;
  EXPECT_NE(WorthMetrics(report).find(R"(allot_advice_wait_seconds{order="advised"} 450)"),
            std::string::npos);
}

}  // namespace
}  // namespace allot
