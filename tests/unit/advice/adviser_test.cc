// Rounds of advice on a scheduler in memory, and their undoing.

#include "advice/adviser.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/advice/fake_queue.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using testing_support::FakeScheduler;
using testing_support::FakeTarget;
using testing_support::QueueOf;
using testing_support::TempFolder;
using testing_support::Waiting;

constexpr int kJobs = 8;

// The longest jobs come first.
FakeScheduler LongestFirst() {
  std::vector<QueuedJob> jobs;
  jobs.reserve(kJobs);
  for (int j = 0; j < kJobs; ++j) {
    jobs.push_back(Waiting(j + 1, j % 2 == 0 ? "ann" : "bob", 1000 - 10 * j, 3600.0 * (kJobs - j)));
  }
  FakeScheduler scheduler;
  scheduler.queue = QueueOf(std::move(jobs));
  return scheduler;
}

class AdviserTest : public testing::Test {
 protected:
  std::unique_ptr<Adviser> Start(int writes_per_minute = 1000) {
    return std::make_unique<Adviser>(
        std::make_unique<FakeTarget>(&scheduler_),
        AdviceOptions{.policy = "sjf", .writes_per_minute = writes_per_minute}, folder_,
        Adviser::Records::kWritesAndWorth);
  }
  std::vector<std::string> Order() const {
    std::vector<QueuedJob> jobs = scheduler_.queue.waiting;
    std::stable_sort(jobs.begin(), jobs.end(), [](const QueuedJob& a, const QueuedJob& b) {
      return a.priority > b.priority;
    });
    std::vector<std::string> ids;
    ids.reserve(jobs.size());
    for (const QueuedJob& job : jobs) ids.push_back(job.id);
    return ids;
  }

  TempFolder folder_;
  FakeScheduler scheduler_ = LongestFirst();
};

TEST_F(AdviserTest, WritesTheOrderOnce) {
  const auto adviser = Start();
  adviser->Write(adviser->Advise());
  EXPECT_EQ(Order(), (std::vector<std::string>{"7", "8", "5", "6", "3", "4", "1", "2"}));
  EXPECT_TRUE(adviser->Advise().changes.empty());
}

TEST_F(AdviserTest, GoesOnWhereAnotherOneEnded) {
  {
    const auto adviser = Start();
    adviser->Write(adviser->Advise());
  }
  const auto adviser = Start();
  EXPECT_TRUE(adviser->Advise().changes.empty());
  const int written = scheduler_.writes;
  EXPECT_EQ(adviser->Undo().restored, written);
}

TEST_F(AdviserTest, WritesAtMostTheNumberAMinuteAcrossRuns) {
  {
    const auto adviser = Start(2);
    EXPECT_EQ(adviser->Write(adviser->Advise()).values, 2);
  }
  const auto adviser = Start(3);
  EXPECT_EQ(adviser->Write(adviser->Advise()).values, 1);
}

TEST_F(AdviserTest, WritesWhatIsToBeLastFirst) {
  const auto adviser = Start(2);
  adviser->Write(adviser->Advise());
  EXPECT_EQ(Order(), (std::vector<std::string>{"3", "4", "5", "6", "7", "8", "1", "2"}));
}

TEST_F(AdviserTest, LeavesJobsWithANiceOfTheirOwnAlone) {
  scheduler_.SetNice("1", 5);
  const auto adviser = Start();
  const Advice advice = adviser->Advise();
  EXPECT_EQ(advice.queues.front().left_alone.at("has a Nice of its own"), 1);
  adviser->Write(advice);
  EXPECT_EQ(scheduler_.Of("1").nice, 5);
}

TEST_F(AdviserTest, LeavesJobsAloneWhoseNiceSomebodyElseChanged) {
  const auto adviser = Start();
  adviser->Write(adviser->Advise());
  ASSERT_GT(scheduler_.Of("1").nice, 0);
  scheduler_.SetNice("1", 3);
  EXPECT_EQ(adviser->Advise().queues.front().left_alone.at("somebody else changed its Nice"), 1);
  EXPECT_EQ(adviser->Undo().others_nice, (std::vector<std::string>{"1"}));
  EXPECT_EQ(scheduler_.Of("1").nice, 3);
}

TEST_F(AdviserTest, TakesAJobThatHasGotAnOldNumberForAnotherOne) {
  const auto adviser = Start();
  adviser->Write(adviser->Advise());
  ASSERT_GT(scheduler_.Of("1").nice, 0);
  scheduler_.SetNice("1", 0);
  scheduler_.Of("1").submit += 100;
  EXPECT_TRUE(adviser->Advise().queues.front().left_alone.empty());
}

TEST_F(AdviserTest, AJobThatMayNotBeChangedIsNamedAndTheOthersGoOn) {
  const auto adviser = Start();
  const Advice advice = adviser->Advise();
  scheduler_.refuses = "2";
  const Written written = adviser->Write(advice);
  EXPECT_EQ(written.values + 1, static_cast<int>(advice.changes.size()));
  ASSERT_EQ(written.refused.size(), 1u);
  EXPECT_NE(written.refused[0].find("job 2 of user bob"), std::string::npos);
  scheduler_.refuses = "1";
  const Undone undone = adviser->Undo();
  EXPECT_EQ(undone.refused.size(), 1u);
  EXPECT_EQ(undone.restored + 1, written.values);
}

TEST_F(AdviserTest, WritesNothingWithoutTheRightToUndoIt) {
  scheduler_.lacks_right = true;
  const auto adviser = Start();
  ExpectError(ExitCode::kRunFailed, {"nothing is written", "no operator"},
              [&] { adviser->Write(adviser->Advise()); });
  EXPECT_FALSE(Adviser::HasWritten(folder_));
}

TEST_F(AdviserTest, AJobThatIsLeftAloneOvertakesNobody) {
  scheduler_.SetNice("5", 1);
  const auto adviser = Start();
  adviser->Write(adviser->Advise());
  const std::vector<std::string> order = Order();
  EXPECT_EQ(std::find(order.begin(), order.end(), "5") - order.begin(), 4);
}

// Nice values up to 1000 do not bring the short job of ann before those of bob: then her long one
// keeps its place, too.
TEST_F(AdviserTest, NobodyLosesAPlaceForOneThatNoNiceReaches) {
  scheduler_.queue =
      QueueOf({Waiting(1, "ann", 10000, 7200), Waiting(2, "bob", 9500), Waiting(3, "bob", 9400),
               Waiting(4, "bob", 9300), Waiting(5, "ann", 400, 60)});
  EXPECT_TRUE(Start()->Advise().changes.empty());
}

// Killed before or after any write, of advice or of its undoing.
TEST_F(AdviserTest, RestoresEveryNiceWhereverItWasKilled) {
  const auto before = scheduler_.Nices();
  const int writes = static_cast<int>(Start()->Advise().changes.size());
  ASSERT_GT(writes, 2);
  for (int at = 0; at < 2 * writes; ++at) {
    for (const bool late : {false, true}) {
      scheduler_.writes = 0;
      scheduler_.dies_after = at;
      scheduler_.dies_late = late;
      try {
        const auto adviser = Start(100'000);
        adviser->Write(adviser->Advise());
        adviser->Undo();
      } catch (const std::runtime_error&) {
      }
      scheduler_.dies_after = -1;
      Start()->Undo();
      EXPECT_EQ(scheduler_.Nices(), before) << "killed at write " << at;
    }
  }
}

TEST_F(AdviserTest, LetsOneProcessRecordInAFolder) {
  const auto adviser = Start();
  ExpectError(ExitCode::kRunFailed, {"one adviser records in a state folder"}, [&] { Start(); });
}

TEST_F(AdviserTest, MakesNoFolderForADryRun) {
  const auto state = folder_ / "none";
  Adviser adviser(std::make_unique<FakeTarget>(&scheduler_), {.policy = "sjf"}, state,
                  Adviser::Records::kNone);
  adviser.Advise();
  EXPECT_FALSE(std::filesystem::exists(state));
}

}  // namespace
}  // namespace allot
