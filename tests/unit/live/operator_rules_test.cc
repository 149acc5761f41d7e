// What operators say (rules/operator_rules.h), on live jobs.

#include "rules/operator_rules.h"

#include "core/file.h"
#include "live/daemon/daemon.h"
#include "live/daemon/daemon_metrics.h"
#include "live/daemon/daemon_status.h"
#include "tests/unit/live/live_cluster_fixture.h"
#include "workload/calendar.h"

namespace allot {
namespace {

class LiveRules : public LiveClusterFixture {
 protected:
  void Say(const std::string& text) {
    options_.job_table.rules = text.empty()
                                   ? nullptr
                                   : std::make_shared<const OperatorRules>(OperatorRules::Parse(
                                         "fair_share = false\n" + text, "rules"));
  }
  std::vector<int> SizesOf(const std::string& id) {
    std::vector<int> sizes;
    for (const Configuration& c : JobOf(id).table->configurations()) sizes.push_back(c.units.of(0));
    return sizes;
  }
};

TEST_F(LiveRules, PoliciesSeeTheSizesThatAreAllowed) {
  Say("sizes = \"powers-of-two\"\n[[jobs]]\naccount = \"vision\"\nsizes = [3, 6]\n");
  runtime_.AddJob("plain", 2, 1, 8);
  runtime_.AddJob("own", 2, 1, 8).sizes = "2|3|4";
  runtime_.AddJob("vision", 4, 1, 8).account = "vision";
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(SizesOf("plain"), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(SizesOf("own"), (std::vector<int>{2, 4})) << "both rules hold";
  EXPECT_EQ(SizesOf("vision"), (std::vector<int>{3, 6}));
}

TEST_F(LiveRules, NewRulesApplyWhileTheDaemonRuns) {
  runtime_.AddJob("a", 3, 1, 8);
  runtime_.AddJob("b", 1, 1, 8);
  ServeAndTrain({{"a", 3}});
  Say("sizes = \"powers-of-two\"\ncooldown = 60\n[[guarantees]]\naccount = \"user\"\ngpus = 2\n");
  cluster_->SetSettings({20, 0.5, options_.job_table.rules});
  port_->SetGuarantees(cluster_->guarantees());
  ASSERT_TRUE(port_->WaitForChange(kNever)) << "it asks for a decision";
  EXPECT_EQ(SizesOf("a"), (std::vector<int>{1, 2, 3, 4, 8})) << "it keeps what it has";
  EXPECT_EQ(SizesOf("b"), (std::vector<int>{1, 2, 4, 8}));
  EXPECT_EQ(JobOf("b").rules.cooldown, 60);
  EXPECT_EQ(JobOf("b").rules.guarantee, 0);
  EXPECT_EQ(port_->Observe().interval, 20);
  EXPECT_TRUE(Trains("a", 3));
}

TEST_F(LiveRules, RulesThatALiveClusterCannotHaveChangeNothing) {
  runtime_.AddJob("a", 3, 1, 8);
  ServeAndTrain({{"a", 3}});
  Say("sizes = \"powers-of-two\"\n[[maintenance]]\nnodes = \"n1\"\nfrom = 10\nto = 20\n");
  EXPECT_THROW(cluster_->SetSettings({20, 0.5, options_.job_table.rules}), Error);
  EXPECT_EQ(cluster_->options().interval, 10);
  EXPECT_EQ(SizesOf("a").size(), 8U);
}

TEST_F(LiveRules, AJobWithoutAnAllowedSizeIsToldWhy) {
  Say("sizes = \"powers-of-two\"\n");
  runtime_.AddJob("three", 3, 3, 3);
  runtime_.AddJob("other", 1, 1, 1);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_FALSE(JobOf("three").fits());
  EXPECT_EQ(JobOf("three").unfit,
            "a job must have a size that its rule allows: job 'three' may have 3 to 3 GPUs, sizes "
            "are powers-of-two (types gpu)");
}

TEST_F(LiveRules, WhatAJobHoldsSinceBeforeARuleItKeepsUntilItIsGivenSomethingElse) {
  runtime_.AddJob("a", 3, 1, 8);
  ServeAndTrain({{"a", 3}});
  Say("sizes = \"powers-of-two\"\n");
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Until("training on", [&] { return Trains("a", 3); });
  EXPECT_EQ(SizesOf("a"), (std::vector<int>{1, 2, 3, 4, 8}));
  TrainOn({{"a", 4}});
  EXPECT_EQ(SizesOf("a"), (std::vector<int>{1, 2, 4, 8}));
}

TEST_F(LiveRules, AJournalOfOtherRulesIsRead) {
  Say("sizes = [5, 7]\n");
  runtime_.AddJob("a", 5, 1, 8);
  ServeAndTrain({{"a", 5}});
  TrainOn({{"a", 7}});
  Say("sizes = [2, 6]\n");
  Serve();
  Until("training on", [&] { return Trains("a", 7); });
  EXPECT_EQ(SizesOf("a"), (std::vector<int>{2, 6, 7}));
}

// ---- rules that pin jobs ----

TEST_F(LiveRules, ACooldownHidesAJobAndItsGpusUntilItIsOver) {
  Say("cooldown = 60\n");
  runtime_.AddJob("a", 2, 1, 8);
  runtime_.AddJob("b", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}});
  const Seconds given = cluster_->now();
  EXPECT_EQ(JobOf("a").pin.rule, PinningRule::kCooldown);
  while (cluster_->now() < given + 60) {
    ASSERT_EQ(port_->Observe().rows(), 1) << "at " << cluster_->now();
    ASSERT_EQ(port_->Observe().cluster->total().gpus, 6);
    Decide({});  // which takes nothing from a job that is not seen
    ASSERT_TRUE(port_->WaitForChange(kNever)) << "asked again when the cooldown is over";
  }
  EXPECT_EQ(port_->Observe().rows(), 2);
  EXPECT_EQ(port_->Observe().cluster->total().gpus, 8);
  EXPECT_TRUE(Trains("a", 2));
  EXPECT_FALSE(JobOf("a").pin);
}

TEST_F(LiveRules, TheNextDaemonKnowsWhatIsHeld) {
  Say("cooldown = 600\nrestarts_per_hour = 1\n");
  runtime_.AddJob("a", 2, 1, 8);
  runtime_.AddJob("b", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}});
  const Seconds until = JobOf("a").pin.until;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(JobOf("a").pin.until, until);
}

TEST_F(LiveRules, AJobThatAsksForACooldownHasTheLongerOne) {
  Say("cooldown = 60\n");
  runtime_.AddJob("a", 1, 1, 8).cooldown = 300;
  runtime_.AddJob("b", 1, 1, 8).cooldown = 10;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 1}, {"b", 1}});
  EXPECT_NEAR(JobOf("a").pin.until - cluster_->now(), 300, 1);
  EXPECT_NEAR(JobOf("b").pin.until - cluster_->now(), 60, 1);
}

TEST_F(LiveRules, AUsersCooldownIsAtMostWhatTheOperatorAllows) {
  Say("[[jobs]]\naccount = \"vision\"\nown_cooldown = 20\n");
  runtime_.AddJob("plain", 1, 1, 8).cooldown = 3600;
  RuntimeJob& vision = runtime_.AddJob("vision", 1, 1, 8);
  vision.account = "vision";
  vision.cooldown = 3600;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"plain", 1}, {"vision", 1}});
  EXPECT_NEAR(JobOf("plain").pin.until - cluster_->now(), 300, 1) << "five minutes if not said";
  EXPECT_NEAR(JobOf("vision").pin.until - cluster_->now(), 20, 1);
}

TEST_F(LiveRules, AJobThatIsNeverMovedMayStillLoseANode) {
  Say("[[jobs]]\nuser = \"us*\"\nmoves = false\n");
  runtime_.AddJob("a", 6, 1, 8);
  runtime_.AddJob("b", 1, 1, 8).user = "other";
  ServeAndTrain({{"a", 6}});
  EXPECT_EQ(JobOf("a").pin.rule, PinningRule::kNeverMoved);
  cluster_->DrainNode("n2");
  Until("the rest trains", [&] { return Trains("a", 4); });
  EXPECT_FALSE(JobOf("a").pin) << "what is left of it may be changed";
  EXPECT_EQ(port_->Observe().rows(), 2);
}

TEST_F(LiveRules, TheEndOfAHeldJobIsTold) {
  Say("cooldown = 6000\n");
  runtime_.AddJob("a", 2, 1, 8);
  runtime_.AddJob("b", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}});
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_TRUE(port_->Observe().events.ended.empty()) << "it is hidden, not over";
  runtime_.Finish("a");
  std::vector<EndedJob> told;
  for (int decision = 0; decision < 3; ++decision) {
    ASSERT_TRUE(port_->WaitForChange(0));
    const auto& ended = port_->Observe().events.ended;
    told.insert(told.end(), ended.begin(), ended.end());
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].job, JobOf("a").index);
}

TEST_F(LiveRules, StatusAndMetricsSayWhichRuleHoldsAJob) {
  Say("cooldown = 60\n");
  runtime_.AddJob("a", 2, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}});
  DaemonOptions options;
  options.rules = "rules.toml";
  const DaemonStatus status = MakeStatus(*cluster_, {}, options);
  EXPECT_EQ(status.rules, "rules.toml");
  EXPECT_EQ(status.jobs.at(0).reason, "cooldown, 60 s more");
  EXPECT_NE(MetricsText(*cluster_, {}).find("allot_jobs_pinned_by_rule{rule=\"cooldown\"} 1"),
            std::string::npos);
}

// ---- guarantees ----

TEST_F(LiveRules, AnAccountGetsBackWhatItIsGuaranteed) {
  Say("[[guarantees]]\naccount = \"vision\"\ngpus = 4\n");
  runtime_.AddJob("a", 8, 1, 8);
  ServeAndTrain({{"a", 8}});
  runtime_.AddJob("b", 4, 1, 8).account = "vision";
  Until("it to be seen", [&] { return port_->Observe().rows() == 2; });
  Decide({{"a", 8}});  // a policy that gives nothing back
  Until("both to train", [&] { return Trains("a", 4) && Trains("b", 4); });
  EXPECT_EQ(cluster_->counts().corrected_for_guarantees, 1);
  EXPECT_NE(ReadTextFile((folder_ / "journal.jsonl").string()).find("corrected for guarantees"),
            std::string::npos);
  EXPECT_NE(
      MetricsText(*cluster_, {}).find("allot_decisions_corrected_total{for=\"guarantees\"} 1"),
      std::string::npos);
}

// ---- maintenance windows ----

class LiveWindows : public LiveRules {
 protected:
  // Of n2, so many seconds from now, for a minute.
  void SayWindowIn(int seconds, const std::string& more = "") {
    const auto from = static_cast<std::int64_t>(time_.wall) + seconds;
    Say(fmt::format("[[maintenance]]\nnodes = \"n[2-9]\"\nfrom = \"{}\"\nto = \"{}\"\n{}",
                    FormatCalendar(from), FormatCalendar(from + 60), more));
  }
};

TEST_F(LiveWindows, JobsLeaveANodeWhileItIsMaintained) {
  SayWindowIn(100);
  runtime_.AddJob("a", 8, 1, 8);
  runtime_.AddJob("b", 1, 1, 8);
  ServeAndTrain({{"a", 8}});
  Until("the window", [&] { return !cluster_->state().maintained_nodes().empty(); });
  Until("the rest trains", [&] { return Trains("a", 4); });
  EXPECT_EQ(port_->Observe().cluster->total().gpus, 4);
  const DaemonStatus status = MakeStatus(*cluster_, {}, {});
  EXPECT_EQ(status.nodes.at(1).state, NodeState::kMaintenance);
  EXPECT_NE(MetricsText(*cluster_, {}).find("allot_nodes{state=\"maintenance\"} 1"),
            std::string::npos);
  Serve();
  EXPECT_FALSE(cluster_->state().maintained_nodes().empty()) << "the next daemon knows it";
  Until("its end", [&] { return cluster_->state().maintained_nodes().empty(); });
  Until("all GPUs", [&] { return port_->Observe().cluster->total().gpus == 8; });
}

TEST_F(LiveWindows, BeginByTheClockAsItIsNow) {
  SayWindowIn(100);
  time_.wall += 3600;  // as it was when the daemon started
  runtime_.AddJob("a", 8, 1, 8);
  Serve();
  time_.wall -= 3600;
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_TRUE(cluster_->state().maintained_nodes().empty());
  const Seconds begin = cluster_->now();
  Decide({{"a", 8}});
  Until("the window", [&] { return !cluster_->state().maintained_nodes().empty(); });
  EXPECT_NEAR(cluster_->now() - begin, 100, 10);
}

TEST_F(LiveWindows, BeforeOneNothingMoreBeginsThere) {
  SayWindowIn(1000, "lead = 900\n");
  runtime_.AddJob("a", 6, 1, 8);
  runtime_.AddJob("b", 1, 1, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 6}});
  const Seconds begin = cluster_->now();
  EXPECT_EQ(port_->Observe().cluster->total().gpus, 8);
  Until("the lead", [&] { return port_->Observe().cluster->total().gpus == 6; });
  EXPECT_GE(cluster_->now() - begin, 90);
  EXPECT_TRUE(Trains("a", 6)) << "what runs there runs on";
  Decide({{"a", 4}, {"b", 2}});
  Until("the rest trains", [&] { return Trains("a", 4); });
  EXPECT_TRUE(JobOf("b").shares.empty()) << "nor on GPUs that others give up there";
  EXPECT_EQ(cluster_->pending().ReasonOf(JobOf("b")),
            "no GPU is left where it may run (nothing starts on the other nodes)");
}

TEST_F(LiveWindows, AJobThatBecomesSmallerKeepsWhatItHasThere) {
  SayWindowIn(1000, "lead = 900\n");
  runtime_.AddJob("a", 8, 1, 8);
  runtime_.AddJob("b", 4, 1, 4);
  ServeAndTrain({{"a", 8}});
  const Seconds begin = cluster_->now();
  Until("the lead", [&] { return cluster_->now() - begin > 110; });
  TrainOn({{"a", 4}, {"b", 4}});
  EXPECT_EQ(JobOf("b").shares.front().node, 0);
}

TEST_F(LiveWindows, AreOfTheCalendar) {
  Say("[[maintenance]]\nnodes = \"n1\"\nfrom = \"1h\"\nto = \"2h\"\n");
  EXPECT_THROW(Serve(), Error);
}

// ---- grace ----

TEST_F(LiveRules, AWorkerHasTheTimeToLeaveThatItsRulesSay) {
  Say("grace = 60\n");
  runtime_.AddJob("a", 2, 2, 2, ResizeMode::kRestart);
  runtime_.AddJob("own", 2, 2, 2, ResizeMode::kRestart).grace = 20;
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"a", 2}, {"own", 2}});
  Until("training", [&] { return Trains("a", 1) && Trains("own", 1); });
  runtime_.frozen = {"a.0", "own.0"};  // they do not end by themselves
  Decide({});
  const Seconds begin = cluster_->now();
  const auto ended = [&](const std::string& id) {
    for (int look = 0; look < 1000 && runtime_.Alive(id) > 0; ++look) Look();
    return cluster_->now() - begin;
  };
  EXPECT_NEAR(ended("own"), 20, 1);
  EXPECT_NEAR(ended("a"), 60, 1);
}

}  // namespace
}  // namespace allot
