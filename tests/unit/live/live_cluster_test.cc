#include "live/port/live_cluster.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "core/rng.h"
#include "live/workers/stall_watch.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class LiveClusterTest : public LiveClusterFixture {};

TEST_F(LiveClusterTest, StartsGrowsAndShrinksAJob) {
  runtime_.AddJob("a", 2, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 1);
  TrainOn({{"a", 2}});
  Decide({{"a", 6}});
  EXPECT_EQ(port_->Observe().running[0], JobOf("a").running);
  Until("training on 6", [&] { return Trains("a", 6); });
  TrainOn({{"a", 1}});
  EXPECT_EQ(runtime_.Alive("a"), 1);
  EXPECT_EQ(runtime_.jobs.at("a").membership.epoch, 2);
}

TEST_F(LiveClusterTest, SurvivorsTrainOnUntilAllJoinersHaveJoined) {
  runtime_.AddJob("a", 1, 1, 8);
  ServeAndTrain({{"a", 1}});
  runtime_.slow = {"a.1"};
  Decide({{"a", 3}});
  for (int i = 0; i < 20; ++i) runtime_.Wait(0.1);
  port_->WaitForChange(0);
  EXPECT_EQ(runtime_.Alive("a"), 3);
  EXPECT_EQ(runtime_.jobs.at("a").membership.epoch, 0) << "an epoch without the late one";
  runtime_.slow.clear();
  Until("training on 3", [&] { return Trains("a", 3); });
  EXPECT_EQ(runtime_.jobs.at("a").membership.members.front(), "a.0");
}

TEST_F(LiveClusterTest, TwoJobsThatExchangeNodesBothArrive) {
  runtime_.AddJob("a", 4, 1, 4);
  runtime_.AddJob("b", 4, 1, 4);
  ServeAndTrain({{"a", 4}, {"b", 4}});
  const Observation& o = port_->Observe();
  Allocation swapped;
  swapped.Add(o.job[0], o.running[0], o.shares_of(1));
  swapped.Add(o.job[1], o.running[1], o.shares_of(0));
  ASSERT_TRUE(port_->Apply(swapped).refused.ok());
  Until("both train again", [&] {
    return Trains("a", 4) && Trains("b", 4) &&
           runtime_.workers.at(runtime_.AliveIds("a")[0]).seen.node == "n2";
  });
}

TEST_F(LiveClusterTest, AWorkerThatIsKilledIsReplaced) {
  runtime_.AddJob("a", 3, 1, 4);
  ServeAndTrain({{"a", 3}});
  const std::int64_t step = runtime_.jobs.at("a").progress.step;
  runtime_.Kill("a.0");  // rank 0
  Until("training on 3 again",
        [&] { return Trains("a", 3) && !runtime_.IsMember(runtime_.jobs.at("a"), "a.0"); });
  EXPECT_GE(runtime_.jobs.at("a").progress.step, step);
  EXPECT_EQ(runtime_.jobs.at("a").membership.members.front(), "a.1") << "a survivor leads";
}

TEST_F(LiveClusterTest, AHungWorkerIsEndedAndTheOthersGoOn) {
  runtime_.AddJob("a", 2, 1, 2);
  ServeAndTrain({{"a", 2}});
  runtime_.frozen.insert("a.1");
  runtime_.workers.at("a.1").seen.silent = 1000;
  Until("a new second worker", [&] { return Trains("a", 2) && runtime_.workers.contains("a.2"); });
  EXPECT_EQ(runtime_.workers.at("a.1").seen.state, WorkerState::kEnded);
}

TEST_F(LiveClusterTest, AMemberThatDoesNotComeBackToTheNextDaemonIsEndedAsHung) {
  runtime_.AddJob("a", 2, 1, 2);
  ServeAndTrain({{"a", 2}});
  runtime_.frozen.insert("a.1");
  runtime_.workers.at("a.1").seen.state = WorkerState::kStarting;
  runtime_.workers.at("a.1").seen.silent = WorkerGroupOptions{}.hung_after + 1;
  Serve();
  const Seconds begin = cluster_->now();
  port_->WaitForChange(0);
  Until("a new second worker", [&] { return Trains("a", 2) && runtime_.workers.contains("a.2"); });
  EXPECT_LT(cluster_->now() - begin, WorkerGroupOptions{}.start_timeout / 2);
}

TEST_F(LiveClusterTest, AnEndByForceThatWasRefusedIsAskedForAgainByTheNextDaemonToo) {
  runtime_.AddJob("a", 2, 1, 2);
  ServeAndTrain({{"a", 2}});
  runtime_.frozen.insert("a.1");
  runtime_.workers.at("a.1").seen.silent = 1000;
  runtime_.refuse_stops = 2;
  Until("a second refusal", [&] { return runtime_.refuse_stops == 0; });
  Serve();
  port_->WaitForChange(0);
  Until("a new second worker", [&] { return Trains("a", 2) && runtime_.workers.contains("a.2"); });
}

TEST_F(LiveClusterTest, AJobWhoseWorkersAlwaysFailIsGivenUp) {
  runtime_.AddJob("a", 1, 1, 1);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 1}});
  for (int look = 0; look < 1000 && runtime_.jobs.at("a").job.state == JobState::kActive; ++look) {
    runtime_.jobs.at("a").progress.step = 0;
    for (const std::string& id : runtime_.AliveIds("a")) runtime_.Kill(id);
    time_.Pass(5);
    Look();
    if (JobOf("a").running >= 0 || JobOf("a").over) continue;
    ASSERT_TRUE(port_->WaitForChange(0));
    Decide({{"a", 1}});  // on another node
  }
  EXPECT_EQ(runtime_.jobs.at("a").job.state, JobState::kFailed);
  EXPECT_EQ(runtime_.workers.size(), 6U) << "as many tries as BackoffOptions::most_failures";
}

TEST_F(LiveClusterTest, WorkersThatLiveAndDoNotGoOnAreReplacedUntilTheJobIsGivenUp) {
  options_.job_table.worker_group.stalled_after = 60;
  runtime_.AddJob("a", 2, 2, 2);
  ServeAndTrain({{"a", 2}});
  const auto first = runtime_.AliveIds("a");
  const Seconds begin = clock_->Now();
  runtime_.stuck.insert("a");
  Until("others",
        [&] { return runtime_.AliveIds("a").size() == 2 && runtime_.AliveIds("a") != first; });
  EXPECT_GT(clock_->Now() - begin, 60);
  EXPECT_EQ(cluster_->counts().workers_stalled, 2);
  runtime_.tick = 1;
  const auto given_up = [&] { return runtime_.jobs.at("a").job.state == JobState::kFailed; };
  for (int i = 0; i < 2000 && !given_up(); ++i) Look();
  EXPECT_TRUE(given_up()) << JournalEnd();
  EXPECT_EQ(cluster_->counts().workers_stalled, 12) << "six times two";
}

TEST_F(LiveClusterTest, RestartJobThatReportedAndDoesNotGoOnIsStartedAgain) {
  options_.job_table.worker_group.stalled_after = 60;
  runtime_.AddJob("a", 2, 2, 2, ResizeMode::kRestart);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}});
  Until("a report", [&] { return JobOf("a").progress.step > 0; });
  runtime_.stuck.insert("a");
  Until("another worker",
        [&] { return runtime_.AliveIds("a") == std::vector<std::string>{"a.1"}; });
  EXPECT_EQ(cluster_->counts().workers_stalled, 1);
}

TEST_F(LiveClusterTest, RestartJobThatNeverReportsDoesNotStall) {
  options_.job_table.worker_group.stalled_after = 60;
  runtime_.AddJob("a", 1, 1, 1, ResizeMode::kRestart);
  runtime_.stuck.insert("a");
  ServeAndTrain({{"a", 1}});
  for (int look = 0; look < 100; ++look) {
    time_.Pass(10);
    Look();
  }
  EXPECT_TRUE(Trains("a", 1));
  EXPECT_EQ(cluster_->counts().workers_stalled, 0);
}

TEST(StallWatch, AllowsTenTimesTheLongestPause) {
  StallWatch watch;
  JobProgress progress;
  const auto look = [&](Seconds now) { return watch.Check(progress, true, 60, now); };
  EXPECT_FALSE(look(0));
  EXPECT_FALSE(look(60));
  progress.step = 1;
  EXPECT_FALSE(look(61)) << "an evaluation of 61 s";
  EXPECT_FALSE(look(61 + 600));
  EXPECT_TRUE(look(61 + 611));
  EXPECT_FALSE(watch.Check(progress, false, 60, 700)) << "it is resized";
  EXPECT_FALSE(look(701));
  progress.saved_work = 5;
  EXPECT_FALSE(look(5000));
  EXPECT_FALSE(watch.Check(progress, true, 0, 1e6)) << "never";
}

TEST_F(LiveClusterTest, WorkersThatAreLostTogetherAreOneFailure) {
  runtime_.AddJob("a", 8, 1, 8);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 8}});
  for (int times = 0; times < BackoffOptions{}.most_failures - 1; ++times) {
    Until("workers", [&] { return runtime_.Alive("a") == 8; });
    runtime_.jobs.at("a").progress.step = 0;
    for (const std::string& id : runtime_.AliveIds("a")) runtime_.Kill(id);
    Look();
  }
  Until("training on 8", [&] { return Trains("a", 8); });
}

TEST_F(LiveClusterTest, ALongLifeWithLossesIsNoRowOfFailuresToTheNextDaemon) {
  runtime_.AddJob("a", 2, 1, 2);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 2}});
  for (int times = 0; times < BackoffOptions{}.most_failures + 1; ++times) {
    Until("training on 2", [&] {
      if (JobOf("a").running < 0) Decide({{"a", 2}});
      return Trains("a", 2);
    });
    for (int look = 0; look < 3; ++look) Look();
    runtime_.Kill(runtime_.AliveIds("a").back());
    time_.Pass(BackoffOptions{}.longest);
  }
  Look();
  const std::int64_t step = std::exchange(runtime_.jobs.at("a").progress.step, 0);
  runtime_.hold_epochs = true;
  Serve();
  port_->WaitForChange(0);
  EXPECT_GT(step, 0);
  EXPECT_EQ(runtime_.jobs.at("a").job.state, JobState::kActive);
}

TEST_F(LiveClusterTest, ARefusedStartIsTriedAgainUnderAnotherName) {
  runtime_.AddJob("a", 2, 1, 2);
  runtime_.refuse_starts = 3;
  ServeAndTrain({{"a", 2}});
  EXPECT_EQ(runtime_.refuse_starts, 0);
}

TEST_F(LiveClusterTest, AnUnreachableRuntimeChangesNothing) {
  runtime_.AddJob("a", 2, 1, 4);
  ServeAndTrain({{"a", 2}});
  runtime_.unreachable = true;
  port_->WaitForChange(0);
  Decide({{"a", 4}});
  port_->WaitForChange(0);
  EXPECT_EQ(runtime_.Alive("a"), 2);
  runtime_.jobs.at("a").progress.step = 4711;
  port_->WaitForChange(0);
  EXPECT_EQ(cluster_->state().job_table().active().front()->progress.step, 4711)
      << "workers report to the daemon itself";
  runtime_.unreachable = false;
  Until("training on 4", [&] { return Trains("a", 4); });
}

TEST_F(LiveClusterTest, ADaemonKilledAtAnyMomentLosesAndDoublesNothing) {
  runtime_.AddJob("a", 2, 1, 8);
  runtime_.AddJob("b", 1, 1, 4);
  runtime_.AddJob("c", 2, 2, 4, ResizeMode::kRestart);
  Rng rng(1, "kills");
  const std::vector<std::vector<std::pair<std::string, GpuCount>>> wants = {
      {{"a", 2}, {"b", 1}, {"c", 2}}, {{"a", 4}, {"b", 2}, {"c", 2}},
      {{"a", 1}, {"b", 3}, {"c", 4}}, {{"b", 4}, {"c", 3}},
      {{"a", 6}, {"b", 2}},           {{"a", 3}, {"b", 1}, {"c", 4}}};
  std::map<std::string, std::int64_t> steps;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  for (int round = 0; round < 60; ++round) {
    Decide(wants[rng.Below(wants.size())]);
    // Some looks later, wherever the resize then is, the daemon dies.
    for (std::uint64_t look = rng.Below(6); look > 0; --look) Look();
    if (rng.Below(4) == 0) {
      const auto alive = runtime_.AliveIds("a");
      if (!alive.empty()) runtime_.Kill(alive[rng.Below(alive.size())]);
    }
    Serve();
    ASSERT_TRUE(port_->WaitForChange(0));
    for (const char* id : {"a", "b", "c"}) {
      EXPECT_GE(runtime_.jobs.at(id).progress.step, steps[id]);
      steps[id] = runtime_.jobs.at(id).progress.step;
    }
  }
  Decide({{"a", 3}, {"b", 1}, {"c", 4}});
  Until("all train", [&] {
    if (JobOf("a").given() != 3) Decide({{"a", 3}, {"b", 1}, {"c", 4}});  // a worker was killed
    return Trains("a", 3) && Trains("b", 1) && Trains("c", 1);
  });
  EXPECT_EQ(cluster_->state().job_table().jobs().size(), 3U) << "a job was counted twice";
  for (const char* id : {"a", "b", "c"}) runtime_.Finish(id);
  while (!cluster_->state().job_table().active().empty()) {
    Look();
    Serve();
  }
  EXPECT_EQ(runtime_.Alive("a") + runtime_.Alive("b") + runtime_.Alive("c"), 0);
}

TEST_F(LiveClusterTest, ALostJournalIsMadeUpForByWhatRuns) {
  runtime_.AddJob("a", 2, 1, 4);
  ServeAndTrain({{"a", 2}});
  cluster_.reset();
  journal_.reset();
  std::filesystem::remove(folder_ / "journal.jsonl");
  const std::vector<std::string> workers = runtime_.AliveIds("a");
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Until("training as found", [&] { return Trains("a", 2); });
  EXPECT_EQ(runtime_.AliveIds("a"), workers);
  TrainOn({{"a", 3}});
  EXPECT_GT(runtime_.jobs.at("a").membership.epoch, 0);
}

TEST_F(LiveClusterTest, AClockThatJumpsWhileNoDaemonRunsEndsNobody) {
  runtime_.AddJob("a", 2, 2, 2);
  ServeAndTrain({{"a", 2}});
  const auto workers = runtime_.AliveIds("a");
  time_.wall += 3600;
  runtime_.deaf = true;
  Serve();
  for (int i = 0; i < 50; ++i) Look();
  runtime_.deaf = false;
  Until("training again", [&] { return Trains("a", 2); });
  EXPECT_EQ(runtime_.AliveIds("a"), workers);
}

// As a standby finds it that was in charge once, and is again.
TEST_F(LiveClusterTest, AnOldJournalGivesWayToWhatRuns) {
  runtime_.AddJob("a", 2, 2, 2);
  runtime_.AddJob("r", 2, 2, 2, ResizeMode::kRestart);
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 2}, {"r", 2}});
  Until("both", [&] { return Trains("a", 2) && Trains("r", 1); });
  // Another daemon has exchanged their places meanwhile.
  std::map<std::string, FakeRuntime::Worker> later;
  for (const auto& [id, worker] : runtime_.workers) {
    FakeRuntime::Worker moved = worker;
    const std::string job = worker.seen.job == "a" ? "r" : "a";
    moved.seen.id = job + ".9" + id.substr(2);
    moved.seen.job = job;
    later[moved.seen.id] = moved;
  }
  // The job that restarts has its GPUs as one worker.
  ASSERT_EQ(later.size(), 3U);
  FakeRuntime::Worker whole = later.at("r.90");
  whole.seen.gpus |= later.at("r.91").seen.gpus;
  FakeRuntime::Worker half = later.at("a.90");
  const std::uint64_t both = half.seen.gpus;
  half.seen.gpus = both & -both;
  FakeRuntime::Worker other = half;
  other.seen.id = "a.91";
  other.seen.gpus = both & ~half.seen.gpus;
  runtime_.workers = {{"r.90", whole}, {"a.90", half}, {"a.91", other}};
  runtime_.jobs.at("a").membership = {7, {"a.90", "a.91"}};
  runtime_.jobs.at("a").progress.epoch = 7;
  Serve();
  Until("training where they are", [&] { return Trains("a", 2) && Trains("r", 1); });
  EXPECT_EQ(runtime_.AliveIds("a"), (std::vector<std::string>{"a.90", "a.91"}));
  EXPECT_EQ(runtime_.AliveIds("r"), (std::vector<std::string>{"r.90"}));
  EXPECT_GE(JobOf("a").worker_group.membership().epoch, 7);
}

TEST_F(LiveClusterTest, ALostJournalIsMadeUpForByWhatWorkersSayLater) {
  runtime_.AddJob("a", 2, 1, 4);
  Serve();
  port_->WaitForChange(0);
  for (const GpuCount gpus : {2, 3, 2}) {  // some epochs
    Decide({{"a", gpus}});
    Until("training", [&] { return Trains("a", gpus); });
  }
  const std::int64_t before = runtime_.jobs.at("a").membership.epoch;
  cluster_.reset();
  journal_.reset();
  std::filesystem::remove(folder_ / "journal.jsonl");
  runtime_.deaf = true;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  runtime_.deaf = false;
  TrainOn({{"a", 3}});
  EXPECT_GT(runtime_.jobs.at("a").membership.epoch, before);
}

// As where Slurm's answer came too late.
TEST_F(LiveClusterTest, AWorkerOfAStartThatWasRefusedChangesNoDecision) {
  runtime_.AddJob("a", 4, 1, 4);
  Serve();
  port_->WaitForChange(0);
  runtime_.refuse_starts = 1;
  Decide({{"a", 4}});
  ASSERT_EQ(runtime_.refuse_starts, 0);
  FakeRuntime::Worker& late = runtime_.workers["a.2"];
  late.seen.id = "a.2";
  late.seen.job = "a";
  late.seen.node = "n1";
  late.seen.gpus = 0b100;
  Until("training on 4", [&] { return Trains("a", 4); });
  EXPECT_EQ(runtime_.Alive("a"), 4);
}

TEST_F(LiveClusterTest, WhatAWorkerThatLeavesHoldsIsNotGivenAgain) {
  runtime_.AddJob("a", 2, 1, 4);
  ServeAndTrain({{"a", 2}});
  runtime_.frozen = {"a.0", "a.1"};
  Decide({});
  // As another daemon has added one meanwhile.
  FakeRuntime::Worker& other = runtime_.workers["a.9"];
  other.seen.id = "a.9";
  other.seen.job = "a";
  other.seen.node = "n1";
  other.seen.gpus = 0b1000;
  Serve();
  EXPECT_TRUE(cluster_->PollRuntime()) << "somebody is to decide";
  ASSERT_EQ(JobOf("a").shares.size(), 1U);
  EXPECT_EQ(JobOf("a").shares[0].gpus, 0b1000U) << "not those of workers that leave";
}

TEST_F(LiveClusterTest, AJobLeavesANodeThatGoesDown) {
  runtime_.AddJob("a", 6, 1, 8);
  ServeAndTrain({{"a", 6}});
  runtime_.nodes[1].state = NodeState::kDown;
  ASSERT_TRUE(port_->WaitForChange(kNever)) << "a lost node asks for a decision";
  EXPECT_EQ(port_->Observe().cluster->total().gpus, 4);
  EXPECT_EQ(JobOf("a").shares.size(), 1U);
  Until("training on 4", [&] { return Trains("a", 4); });
}

TEST_F(LiveClusterTest, DrainedNodesAreLeftAndComeBack) {
  runtime_.AddJob("a", 6, 1, 8);
  ServeAndTrain({{"a", 6}});
  EXPECT_THROW(cluster_->DrainNode("n3"), Error);
  cluster_->DrainNode("n1");
  Until("training on 2", [&] { return Trains("a", 2); });
  cluster_->Resume();
  port_->WaitForChange(0);
  EXPECT_EQ(port_->Observe().cluster->total().gpus, 4) << "the end of a pause ends no drain";
  EXPECT_THROW(cluster_->UndrainNode("n3"), Error);
  cluster_->UndrainNode("n1");
  port_->WaitForChange(0);
  EXPECT_EQ(port_->Observe().cluster->total().gpus, 8);
}

TEST_F(LiveClusterTest, AWallClockThatJumpsMovesNothing) {
  runtime_.AddJob("a", 2, 1, 4);
  Serve();
  port_->WaitForChange(0);
  const Seconds before = port_->Observe().now;
  time_.wall -= 1e6;
  port_->WaitForChange(0);
  EXPECT_GE(port_->Observe().now, before);
  EXPECT_LT(port_->Observe().now, before + 30);
  runtime_.AddJob("b", 1, 1, 1);  // submitted "before" the run began
  port_->WaitForChange(0);
  EXPECT_GE(JobOf("b").submit, JobOf("a").submit);
  Serve();  // a successor, with the clock still wrong
  port_->WaitForChange(0);
  EXPECT_GE(port_->Observe().now, before);
}

TEST_F(LiveClusterTest, AnUnknownModelRunsOnThePriorUntilItIsMeasured) {
  runtime_.AddJob("a", 1, 1, 4).model = "nobody-knows";
  Serve();
  port_->WaitForChange(0);
  const auto rate = [&](GpuCount gpus) {
    const auto& table = *port_->Observe().table[0];
    return table[table.Find({std::int16_t(gpus), 0}, 0)].rate;
  };
  EXPECT_DOUBLE_EQ(rate(1), 1.0);
  EXPECT_DOUBLE_EQ(rate(4), std::pow(4.0, 0.8));
  Decide({{"a", 2}});
  runtime_.jobs.at("a").progress.rate = 500;
  Until("a table of measured rates", [&] { return std::abs(rate(2) - 500) < 1e-6; });
  EXPECT_NEAR(rate(4), 500 * std::pow(2.0, 0.8), 1e-6);
}

TEST_F(LiveClusterTest, AJobThatFitsNowhereWaitsUnseen) {
  runtime_.AddJob("big", 16, 16, 16);
  runtime_.AddJob("a", 1, 1, 1);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Observe().rows(), 1);
}

TEST_F(LiveClusterTest, ADaemonWithNothingToDecideLooksOnceAPoll) {
  Serve();
  runtime_.on_wait = [&] {
    if (runtime_.waits.size() == 500) runtime_.AddJob("late", 1, 1, 1);
  };
  ASSERT_TRUE(port_->WaitForChange(0));
  const Seconds poll = LiveOptions{}.poll;
  EXPECT_LE(std::count_if(runtime_.waits.begin(), runtime_.waits.end(),
                          [&](Seconds wait) { return wait < poll; }),
            1);  // the one before the end of the interval
}

// Of a cluster so large that a look is work, and that does not say when a job ends.
TEST_F(LiveClusterTest, WhileJobsComeAndEndItLooksMoreOften) {
  runtime_.look_cost = 5e-3;  // far above what else a poll does
  options_.poll = 0.01;
  options_.interval = 20;
  runtime_.AddJob("a", 1, 1, 1);
  Serve();
  runtime_.on_wait = [&] { runtime_.tick = runtime_.waits.back(); };
  Until("an idle cluster", [&] { return clock_->Now() > 20; });
  const Seconds idle = *std::max_element(runtime_.waits.begin(), runtime_.waits.end());
  runtime_.AddJob("b", 1, 1, 1);
  const std::size_t before = runtime_.waits.size();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(runtime_.waits.size(), before + 1) << "it is decided at the look that sees it";
  runtime_.waits.clear();
  runtime_.Finish("b");
  ASSERT_TRUE(port_->WaitForChange(0));
  ASSERT_EQ(runtime_.waits.size(), 1U);
  EXPECT_LT(runtime_.waits.front(), idle);  // poll_pace_test has the factor
}

TEST_F(LiveClusterTest, ADryRunStartsNothing) {
  runtime_.AddJob("a", 1, 1, 4);
  LiveClock clock(kUnknown, 0, time_.source());
  LiveOptions options;
  options.dry_run = true;
  cluster_ =
      std::make_unique<LiveCluster>(runtime_, nullptr, clock, options, std::vector<TimedRecord>{});
  Constrain();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(port_->Apply(Of({{"a", 2}})).launched, 1);
  port_->WaitForChange(0);
  EXPECT_TRUE(runtime_.workers.empty());
  EXPECT_EQ(port_->Observe().running[0], -1);
}

TEST_F(LiveClusterTest, AJobIsCancelledByItsIdOrByWhatItIsKnownAs) {
  runtime_.AddJob("team.mlp.1", 1, 1, 4).known_as = "team/mlp";
  Serve();
  port_->WaitForChange(0);
  const auto why = [&](const std::string& name, ExitCode code = ExitCode::kUsage) {
    return ErrorOf(code, [&] { cluster_->Cancel(name); });
  };
  const std::string refused =
      why("team.mlp.1", ExitCode::kRunFailed);  // this runtime cancels nothing
  EXPECT_EQ(why("team/mlp", ExitCode::kRunFailed), refused);
  EXPECT_NE(why("team/mlq").find("no job 'team/mlq' that waits or runs (did you mean 'team/mlp'?)"),
            std::string::npos)
      << why("team/mlq");
  runtime_.AddJob("team.mlp.2", 1, 1, 4).known_as = "team/mlp";
  Look();
  EXPECT_EQ(why("team/mlp"),
            "'team/mlp' must be one job, is 2: give one of team.mlp.1, team.mlp.2");
}

TEST_F(LiveClusterTest, JobsOfAClusterWithoutNodesWaitForOne) {
  runtime_.nodes.clear();
  runtime_.AddJob("a", 1, 1, 4);
  Serve();
  Look();
  EXPECT_TRUE(cluster_->state().job_table().active().empty());
  runtime_.AddNode("late", 4);
  Look();
  EXPECT_EQ(cluster_->state().job_table().active().size(), 1U);
}

TEST_F(LiveClusterTest, WhyTheRuntimeCannotBeAskedIsKnownUntilItCan) {
  runtime_.AddJob("a", 1, 1, 4);
  Serve();
  port_->WaitForChange(0);
  runtime_.unreachable = true;
  Look();
  EXPECT_EQ(cluster_->trouble(), "the controller does not answer");
  runtime_.unreachable = false;
  Look();
  EXPECT_EQ(cluster_->trouble(), "");
}

TEST_F(LiveClusterTest, AnIllegalAllocationIsRefusedWhole) {
  runtime_.AddJob("a", 1, 1, 4);
  Serve();
  port_->WaitForChange(0);
  Allocation twice = Of({{"a", 1}});
  const NodeShare share{0, {1, 0}, 1};
  twice.Add(port_->Observe().job[0], 0, std::span(&share, 1));
  EXPECT_FALSE(port_->Apply(twice).refused.ok());
  EXPECT_EQ(JobOf("a").running, -1);
}

}  // namespace
}  // namespace allot
