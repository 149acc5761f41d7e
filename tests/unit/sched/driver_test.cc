#include "sched/driver.h"

#include <gtest/gtest.h>

#include "cluster/validate.h"
#include "core/error.h"
#include "sched/recorded_policy.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::World;

// One job on one GPU, forever; decisions every 300 s, `decisions` of them.
class FakeCluster : public ClusterPort {
 public:
  explicit FakeCluster(std::int64_t decisions) : world_("1x1"), decisions_(decisions) {
    world_.Add({{1}});
  }
  const Observation& Observe() const override { return world_.o; }
  Status Validate(const Allocation& allocation) const override {
    ++validated;
    return ValidateAllocation(world_.o, allocation);
  }
  ApplyReport Apply(const Allocation& allocation) override {
    ApplyReport report;
    report.refused = Validate(allocation);
    return report.refused.ok() ? ApplyValidated(allocation) : report;
  }
  ApplyReport ApplyValidated(const Allocation&) override {
    ++applied;
    return {};
  }
  bool WaitForChange(Seconds holds_until) override {
    if (full_disk) throw RunError("cannot write 'journal.jsonl': No space left on device");
    held_until = holds_until;
    world_.o.now += 300;
    return ++world_.o.decision < decisions_;
  }
  mutable int validated = 0;
  int applied = 0;
  bool full_disk = false;
  Seconds held_until = -1;

 private:
  World world_;
  std::int64_t decisions_;
};

// Gives job 0 the GPU of this mask, from decision `from` on.
class FixedPolicy : public Policy {
 public:
  explicit FixedPolicy(std::uint64_t mask, std::int64_t from = 0) : mask_(mask), from_(from) {
    info_.id = "fixed";
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    const NodeShare share{0, {1}, mask_};
    if (o.decision >= from_) allocation->Add(0, 0, std::span(&share, 1));
  }
  void set_time_driven(bool driven) { info_.time_driven = driven; }

 private:
  PolicyInfo info_;
  std::uint64_t mask_;
  std::int64_t from_;
};

TEST(DriverTest, DecidesUntilTheClusterIsDone) {
  FakeCluster cluster(5);
  FixedPolicy policy(1);
  const DriveResult result = Drive(cluster, policy, {});
  EXPECT_EQ(result.decisions, 5);
  EXPECT_EQ(result.decision_us.size(), 5U);
  EXPECT_EQ(cluster.applied, 5);
}

TEST(DriverTest, StopsAtTheDecisionLimit) {
  FakeCluster cluster(5);
  FixedPolicy policy(1);
  EXPECT_EQ(Drive(cluster, policy, {}, {}, {.max_decisions = 2, .time_decisions = false}).decisions,
            2);
}

TEST(DriverTest, OnlyTimeDrivenPoliciesAreAskedEveryInterval) {
  FakeCluster cluster(2);
  FixedPolicy policy(1);
  Drive(cluster, policy, {});
  EXPECT_EQ(cluster.held_until, kNever);
  policy.set_time_driven(true);
  FakeCluster second(2);
  Drive(second, policy, {});
  EXPECT_EQ(second.held_until, 0);
}

TEST(DriverTest, AnInvalidAllocationNamesPolicyDecisionAndRule) {
  FakeCluster cluster(5);
  FixedPolicy policy(0b10, 3);  // the node has GPU 0 only
  ExpectError(ExitCode::kRunFailed, {"policy 'fixed'", "decision 3", "900 s", "GPU"},
              [&] { Drive(cluster, policy, {}); });
  EXPECT_EQ(cluster.applied, 3);
}

TEST(DriverTest, WhatFailsInTheClusterIsNotThePolicysFault) {
  FakeCluster cluster(5);
  cluster.full_disk = true;
  FixedPolicy policy(1);
  try {
    Drive(cluster, policy, {});
    FAIL() << "the disk is full";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot write 'journal.jsonl': No space left on device");
  }
}

// Sees decisions and keeps nothing.
class NoListener : public DecisionListener {
 public:
  void OnDecision(const Observation&, const Allocation&) override {}
};

TEST(DriverTest, EveryAnswerIsValidatedOnce) {
  FixedPolicy policy(1);
  NoListener listener;
  DecisionListener* const listeners[] = {&listener};
  FakeCluster alone(5), heard(5);
  Drive(alone, policy, {});
  EXPECT_EQ(alone.validated, 5) << "by the cluster";
  Drive(heard, policy, {}, listeners);
  EXPECT_EQ(heard.validated, 5) << "before the listener sees it, and not again";
  EXPECT_EQ(heard.applied, 5);
}

TEST(DriverTest, AnswersThatThePolicyValidatesAreNotValidatedAgain) {
  FixedPolicy policy(1);
  NoListener listener;
  DecisionListener* const listeners[] = {&listener};
  FakeCluster cluster(5);
  Drive(cluster, policy, {}, listeners, {.valid_answers = true});
  EXPECT_EQ(cluster.validated, 0);
  EXPECT_EQ(cluster.applied, 5);
}

TEST(RecordedPolicyTest, PlaysBackWhatWasCollected) {
  DecisionLog log;
  FakeCluster cluster(3);
  FixedPolicy policy(1, 1);
  DecisionCollector collector(&log);
  DecisionListener* const listeners[] = {&collector};
  Drive(cluster, policy, {}, listeners);
  ASSERT_EQ(log.times, (std::vector<Seconds>{0, 300, 600}));

  DecisionLog again;
  DecisionCollector second(&again);
  DecisionListener* const others[] = {&second};
  RecordedPolicy playback(log);
  FakeCluster fresh(3);
  Drive(fresh, playback, {}, others);
  EXPECT_EQ(again.allocations, log.allocations);
}

TEST(RecordedPolicyTest, ALogThatEndsEarlyIsAnError) {
  DecisionLog log{.times = {0}, .allocations = {Allocation()}};
  RecordedPolicy playback(log);
  FakeCluster cluster(2);
  ExpectError(ExitCode::kBadData, {"ends after 1 decisions", "300 s"},
              [&] { Drive(cluster, playback, {}); });
}

TEST(RecordedPolicyTest, ALogOfAnotherScenarioIsAnError) {
  DecisionLog log{.times = {0, 400}, .allocations = {Allocation(), Allocation()}};
  RecordedPolicy playback(log);
  FakeCluster cluster(2);
  ExpectError(ExitCode::kBadData, {"decision 1 of the log is at 400 s", "the run is at 300 s"},
              [&] { Drive(cluster, playback, {}); });
}

}  // namespace
}  // namespace allot
