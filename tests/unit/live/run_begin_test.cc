// A daemon without the journal of its jobs: what the cluster knows of the time before is not lost.

#include "live/state/run_begin.h"

#include <algorithm>
#include <filesystem>

#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class RunBeginTest : public LiveClusterFixture {
 protected:
  double Begin() { return BeginOfRun(runtime_.TakeSnapshot(), time_.wall); }

  // As the daemon does, without the journal.
  void TakeOver() {
    port_.reset();
    cluster_.reset();
    journal_.reset();
    std::filesystem::remove(folder_ / "journal.jsonl");
    journal_ = std::make_unique<Journal>(folder_ / "journal.jsonl");
    const std::vector<TimedRecord> past = journal_->TakePast();
    RunBegin begin = FindRunBegin(past, runtime_, time_.source());
    clock_ = std::make_unique<LiveClock>(begin.origin, begin.last, time_.source());
    cluster_ = std::make_unique<LiveCluster>(runtime_, journal_.get(), *clock_, options_, past,
                                             std::move(begin.first));
    Constrain();
    cluster_->PollRuntime();
  }
  Seconds AgeOf(const std::string& id) const { return cluster_->now() - JobOf(id).submit; }
};

TEST_F(RunBeginTest, ItIsTheSubmitTimeOfTheFirstJobThatIsStillThere) {
  EXPECT_EQ(Begin(), time_.wall) << "there is none";
  runtime_.AddJob("over", 1, 1, 1).submit = 100;
  runtime_.jobs.at("over").job.state = JobState::kFailed;
  runtime_.AddJob("held", 1, 1, 1).submit = 400;
  runtime_.jobs.at("held").job.state = JobState::kHeld;
  runtime_.AddJob("waits", 1, 1, 1).submit = 700;
  runtime_.AddJob("later", 1, 1, 1).submit = time_.wall + 50;  // by a clock that differs
  runtime_.AddJob("unknown", 1, 1, 1).submit = 0;
  EXPECT_EQ(Begin(), 400);
}

TEST_F(RunBeginTest, JobsKeepTheirAges) {
  time_.Pass(5000);
  runtime_.AddJob("old", 1, 1, 1).submit = time_.wall - 3000;
  runtime_.AddJob("young", 1, 1, 1).submit = time_.wall - 50;
  TakeOver();
  EXPECT_DOUBLE_EQ(AgeOf("old"), 3000);
  EXPECT_DOUBLE_EQ(AgeOf("young"), 50);
  ASSERT_TRUE(port_->WaitForChange(0));  // both wait: it is asked
  const Observation& o = port_->Observe();
  EXPECT_DOUBLE_EQ(o.now - o.waiting_since[0], o.now - JobOf("old").submit) << "policies see it";
  EXPECT_GE(o.submit[0], 0) << "times of a run are not negative";
}

TEST_F(RunBeginTest, WhereTheRuntimeDoesNotAnswerJobsCountAsNewAndTheFirstPollAsksAgain) {
  time_.Pass(5000);
  runtime_.AddJob("old", 1, 1, 1).submit = time_.wall - 3000;
  runtime_.unreachable = true;
  const double begin = time_.wall;
  TakeOver();
  EXPECT_NE(cluster_->trouble(), "") << "nothing was read";
  runtime_.unreachable = false;
  Look();
  EXPECT_EQ(cluster_->trouble(), "");
  EXPECT_DOUBLE_EQ(cluster_->origin(), begin);
  EXPECT_DOUBLE_EQ(JobOf("old").submit, 0);
}

TEST_F(RunBeginTest, AJournalThatTellsTheOriginIsBelieved) {
  const std::vector<TimedRecord> past = {{0, record::Serve{400}}, {70, record::Pause{}}};
  runtime_.AddJob("older", 1, 1, 1).submit = 100;
  const RunBegin begin = FindRunBegin(past, runtime_, time_.source());
  EXPECT_EQ(begin.origin, 400);
  EXPECT_EQ(begin.last, 70);
  EXPECT_FALSE(begin.first) << "it is not asked";
}

TEST_F(RunBeginTest, AClockThatWasAheadAtAStartIsCorrectedAtTheNext) {
  constexpr Seconds kTwoDays = 2 * 86400;
  const auto restart = [this] {
    port_.reset();
    cluster_.reset();
    journal_.reset();
    journal_ = std::make_unique<Journal>(folder_ / "journal.jsonl");
    const std::vector<TimedRecord> past = journal_->TakePast();
    const RunBegin begin = FindRunBegin(past, runtime_, time_.source());
    clock_ = std::make_unique<LiveClock>(begin.origin, begin.last, time_.source());
    cluster_ = std::make_unique<LiveCluster>(runtime_, journal_.get(), *clock_, options_, past,
                                             std::nullopt);
    Constrain();
    journal_->Append({clock_->Now(), record::Serve{clock_->origin()}});
    cluster_->PollRuntime();
  };
  runtime_.AddJob("old", 1, 1, 1).submit = time_.wall;
  Serve();
  cluster_->PollRuntime();
  time_.Pass(1000);
  Look();
  cluster_->Pause();  // a record of now
  time_.wall += kTwoDays;
  restart();
  EXPECT_GT(AgeOf("old"), kTwoDays) << "nobody can know better yet";
  time_.Pass(100);
  cluster_->Resume();
  time_.wall -= kTwoDays;
  for (int start = 0; start < 2; ++start) {  // the second one reads the correction
    restart();
    EXPECT_NEAR(AgeOf("old"), 1100, 2);
    runtime_.AddJob(fmt::format("new{}", start), 1, 1, 1).submit = time_.wall;
    Look();
    EXPECT_NEAR(AgeOf(fmt::format("new{}", start)), 0, 2);
  }
}

TEST_F(RunBeginTest, AJobThatRunsKeepsWhatItHasHad) {
  runtime_.AddJob("a", 2, 1, 8);
  ServeAndTrain({{"a", 2}});
  time_.Pass(900);
  runtime_.workers.at("a.0").seen.began = time_.wall - 600;
  runtime_.workers.at("a.1").seen.began = time_.wall - 100;
  TakeOver();
  EXPECT_EQ(JobOf("a").given(), 2);
  EXPECT_DOUBLE_EQ(JobOf("a").attained_gpu_seconds, 700);
  EXPECT_DOUBLE_EQ(JobOf("a").attained_seconds, 600);
  const Seconds began = JobOf("a").record.first_start;
  EXPECT_DOUBLE_EQ(cluster_->now() - began, 600);
  Serve();  // with the journal of that daemon
  EXPECT_DOUBLE_EQ(JobOf("a").attained_gpu_seconds, 700);
  EXPECT_DOUBLE_EQ(JobOf("a").record.first_start, began);
}

TEST_F(RunBeginTest, AfterAFailBackItHasWhatItHadOfTheOtherDaemonToo) {
  runtime_.AddJob("a", 2, 1, 8);
  Serve();
  port_->WaitForChange(0);
  for (const GpuCount gpus : {2, 4}) {
    Decide({{"a", gpus}});
    Until("training", [&] { return Trains("a", std::size_t(gpus)); });
    for (int look = 0; look < 400; ++look) Look();  // its service is noted
    port_->WaitForChange(0);
  }
  // The other one starts it anew, so that the journal knows none of its workers.
  runtime_.workers.clear();
  const std::vector<WorkerRequest> others = {{"a.20", "n1", 1}, {"a.21", "n1", 2}};
  ASSERT_TRUE(runtime_.Start("a", others).ok());
  time_.Pass(1000);
  Serve();
  const double told = JobOf("a").attained_gpu_seconds;
  const Seconds told_seconds = JobOf("a").attained_seconds;
  const Seconds end = cluster_->state().last();
  ASSERT_GT(told, 0);
  ASSERT_GT(JobOf("a").history.last(), 10) << "a change after the first";
  runtime_.workers.at("a.20").seen.began = time_.wall - 300;
  runtime_.workers.at("a.21").seen.began = clock_->origin() + 5;  // the journal tells of then
  cluster_->PollRuntime();
  EXPECT_EQ(JobOf("a").given(), 2);
  EXPECT_DOUBLE_EQ(JobOf("a").attained_gpu_seconds, told + 300 + (cluster_->now() - end));
  EXPECT_DOUBLE_EQ(JobOf("a").attained_seconds, told_seconds + (cluster_->now() - end));
  EXPECT_DOUBLE_EQ(JobOf("a").history.last(), end);
  const std::vector<Seconds>& restarts = JobOf("a").history.restarts();
  EXPECT_GE(restarts.size(), 2U);
  EXPECT_TRUE(std::is_sorted(restarts.begin(), restarts.end()));
}

TEST_F(RunBeginTest, WhereNobodyKnowsSinceWhenItRunsItBeginsNow) {
  runtime_.AddJob("a", 2, 1, 8);
  ServeAndTrain({{"a", 2}});
  TakeOver();
  EXPECT_EQ(JobOf("a").given(), 2);
  EXPECT_DOUBLE_EQ(JobOf("a").attained_gpu_seconds, 0);
  EXPECT_DOUBLE_EQ(JobOf("a").record.first_start, cluster_->now());
}

}  // namespace
}  // namespace allot
