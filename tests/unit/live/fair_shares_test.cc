// Fair shares of users (docs/rules.md) on a live cluster, against a policy that does as one of them
// wants: users who flood it, and jobs whose workers never join.

#include "core/file.h"
#include "live/daemon/daemon_metrics.h"
#include "live/daemon/daemon_status.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class LiveFairShares : public LiveClusterFixture {
 protected:
  using Wants = std::vector<std::pair<std::string, GpuCount>>;

  LiveFairShares() { options_.job_table.rules = std::make_shared<const OperatorRules>(); }

  void AddOf(const std::string& user, const std::string& id, GpuCount min, GpuCount max) {
    runtime_.AddJob(id, min, min, max).user = user;
  }
  // So many jobs of one GPU; returns the answer that starts as many as there are GPUs.
  Wants Flood(int jobs) {
    Wants wants;
    for (int job = 0; job < jobs; ++job) {
      const std::string id = fmt::format("e{}", job);
      AddOf("eve", id, 1, 1);
      if (job < 8) wants.emplace_back(id, 1);
    }
    return wants;
  }
  const std::string& IdOf(JobIndex job) const {
    return cluster_->state().job_table().jobs().at(job).asked->id;
  }
  // What policies may choose for it; 0: they do not see it.
  GpuCount MostOf(const std::string& id) {
    const Observation& o = port_->Observe();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (IdOf(o.job[std::size_t(row)]) != id) continue;
      return o.table[std::size_t(row)]->configurations().back().demand.gpus;
    }
    return 0;
  }
  // The estimate of its work that policies get; 0: they do not see it.
  double EstimateOf(const std::string& id) {
    const Observation& o = port_->Observe();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      if (IdOf(o.job[std::size_t(row)]) == id) return o.estimated_work[std::size_t(row)];
    }
    return 0;
  }
  // As Until, also while there is nothing to decide.
  template <typename Condition>
  void LookUntil(const char* what, const Condition& condition) {
    for (int look = 0; look < 20'000; ++look) {
      if (condition()) return;
      Look();
    }
    FAIL() << "never came: " << what << "\n" << JournalEnd();
  }
  void NeverJoins(const std::string& id) {
    for (int worker = 0; worker < 100; ++worker)
      runtime_.slow.insert(fmt::format("{}.{}", id, worker));
  }
};

TEST_F(LiveFairShares, SixtyJobsTakeNothingFromARunningJobWithinItsUsersShare) {
  AddOf("alice", "a", 4, 4);
  ServeAndTrain({{"a", 4}});
  const std::int64_t epoch = JobOf("a").worker_group.membership().epoch;
  const Wants wants = Flood(60);
  Until("them to be seen", [&] { return port_->Observe().rows() == 61; });
  for (int decision = 0; decision < 3; ++decision) {
    Decide(wants);
    EXPECT_EQ(JobOf("a").given(), 4);
    ASSERT_TRUE(port_->WaitForChange(0));
  }
  EXPECT_EQ(JobOf("a").worker_group.membership().epoch, epoch) << "nothing has changed for it";
  EXPECT_EQ(cluster_->counts().corrected_for_fair_shares, 3);
  EXPECT_NE(ReadTextFile((folder_ / "journal.jsonl").string()).find("corrected for fair shares"),
            std::string::npos);
  EXPECT_NE(
      MetricsText(*cluster_, {}).find("allot_decisions_corrected_total{for=\"fair shares\"} 3"),
      std::string::npos);
}

TEST_F(LiveFairShares, AGangThatNeverJoinsTakesNothingFromARunningJobWithinItsUsersShare) {
  AddOf("alice", "a", 4, 4);
  ServeAndTrain({{"a", 4}});
  NeverJoins("g");
  AddOf("eve", "g", 8, 8);
  Until("it to be seen", [&] { return port_->Observe().rows() == 2; });
  Decide({{"g", 8}});
  EXPECT_EQ(JobOf("a").given(), 4);
  EXPECT_EQ(JobOf("g").given(), 0) << "it has no smaller size";
}

TEST_F(LiveFairShares, WithoutTheRuleAPolicyDoesAsItWants) {
  options_.job_table.rules =
      std::make_shared<const OperatorRules>(OperatorRules::Parse("fair_share = false\n", "rules"));
  AddOf("alice", "a", 4, 4);
  ServeAndTrain({{"a", 4}});
  const Wants wants = Flood(8);
  Until("them to be seen", [&] { return port_->Observe().rows() == 9; });
  Decide(wants);
  EXPECT_EQ(JobOf("a").given(), 0);
}

TEST_F(LiveFairShares, UsedTimeIsKnownToTheNextDaemon) {
  AddOf("alice", "a", 4, 4);
  ServeAndTrain({{"a", 4}});
  for (int look = 0; look < 1000; ++look) Look();
  const Submitter alice = JobOf("a").submitter;
  const auto used = [&] {
    return cluster_->state().job_table().usage().Of(alice, cluster_->now());
  };
  const double before = used();
  EXPECT_GT(before, 300);
  Serve();
  EXPECT_NEAR(used(), before, .2 * before);
  StateWriter writer(const_cast<LiveState*>(&cluster_->state()), journal_.get(), *clock_);
  LiveState renewed(options_.job_table);
  cluster_->state().ForEachRecord(clock_->origin(), cluster_->now(),
                                  [&](const TimedRecord& record) { renewed.Apply(record); });
  EXPECT_NEAR(renewed.job_table().usage().Of({0, 0}, cluster_->now()), used(), 1);
}

// ---- stated work ----

TEST_F(LiveFairShares, StatementsOfAUserWhoStatedTooLittleAreMultipliedByThisAndTheNextDaemon) {
  AddOf("eve", "e1", 1, 1);
  runtime_.jobs.at("e1").job.total_work = 1;
  ServeAndTrain({{"e1", 1}});
  for (int look = 0; look < 600; ++look) Look();
  runtime_.Finish("e1");
  for (const char* id : {"e2", "a"}) {
    AddOf(id[0] == 'e' ? "eve" : "alice", id, 1, 1);
    runtime_.jobs.at(id).job.total_work = 1;
  }
  for (int daemon = 0; daemon < 2; ++daemon) {
    Until("both", [&] { return EstimateOf("e2") > 0 && EstimateOf("a") > 0; });
    EXPECT_GT(EstimateOf("e2"), 10);
    EXPECT_EQ(EstimateOf("a"), 1);
    Serve();
  }
}

// ---- jobs that have not joined ----

TEST_F(LiveFairShares, ANewJobBeginsSmallOnAFullClusterAndGrowsOnceItHasJoined) {
  AddOf("alice", "a", 1, 8);
  ServeAndTrain({{"a", 8}});
  AddOf("eve", "e", 1, 8);
  Until("it to be seen", [&] { return MostOf("e") > 0; });
  EXPECT_EQ(MostOf("e"), 1);
  Decide({{"a", 7}, {"e", 1}});
  Until("it to have joined", [&] { return Trains("e", 1) && MostOf("e") == 8; });
}

TEST_F(LiveFairShares, NewJobsShareFreeGpus) {
  AddOf("alice", "a", 1, 6);
  AddOf("eve", "e", 1, 6);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(MostOf("a"), 6);
  EXPECT_EQ(MostOf("e"), 2);
}

TEST_F(LiveFairShares, AJobOfWhichNobodyJoinsGivesItsGpusBackAndStartsAgainOnFreeOnesOnly) {
  NeverJoins("g");
  AddOf("eve", "g", 8, 8);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"g", 8}});
  LookUntil("it to give back", [&] { return JobOf("g").given() == 0; });
  EXPECT_EQ(JobOf("g").worker_group.past().backoff.late_tries, 1);
  Look();
  EXPECT_NE(runtime_.explained["g"].find("none of its workers has joined within 120 s"),
            std::string::npos);
  AddOf("alice", "a", 4, 4);
  Until("alice's job", [&] { return MostOf("a") > 0; });
  EXPECT_EQ(MostOf("g"), 0) << "it backs off";
  TrainOn({{"a", 4}});
  for (int look = 0; look < 400; ++look) Look();
  ASSERT_TRUE(port_->WaitForChange(0));
  EXPECT_EQ(MostOf("g"), 0);
  EXPECT_EQ(JobOf("g").beyond, "its workers did not join: it starts once 8 GPUs are free, 4 are");
  runtime_.Finish("a");
  Until("the GPUs to be free", [&] { return MostOf("g") == 8; });
}

}  // namespace
}  // namespace allot
