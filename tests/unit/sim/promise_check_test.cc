#include "sched/promise_check.h"

#include <gtest/gtest.h>

#include "sched/driver.h"
#include "sched/incremental.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/sim/small_world.h"

namespace allot {
namespace {

using testing_support::ScenarioOf;

// Gives the first job of two the only GPU; from `turns` on the second. It says that its answers
// hold until `holds`. As changes, it forgets to stop the first job where `forgets`.
class TurnsPolicy : public Policy, public IncrementalPolicy {
 public:
  TurnsPolicy(Seconds turns, Seconds holds, bool forgets = false)
      : turns_(turns), holds_(holds), forgets_(forgets) {
    info_.id = "turns";
    info_.time_driven = true;
  }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    allocation->Clear();
    const NodeShare gpu{0, {1}, 1};
    if (o.rows() == 0) return;
    const std::size_t row = o.now >= turns_ ? o.job.size() - 1 : 0;
    allocation->Add(o.job[row], o.requested[row], std::span(&gpu, 1));
  }
  IncrementalPolicy* incremental() override { return this; }
  bool DecideChanges(const Observation& o, AllocationChanges* changes) override {
    changes->Clear();
    Decide(o, &changes->given);
    for (std::size_t row = 0; row < o.job.size() && !forgets_; ++row) {
      const bool goes_on = changes->given.entries().front().job == o.job[row];
      if (o.running[row] >= 0 && !goes_on) changes->stopped.push_back(o.job[row]);
    }
    return true;
  }
  Seconds HoldsUntil(const Observation&, std::span<const std::int32_t>) override { return holds_; }

  void set_time_driven(bool driven) { info_.time_driven = driven; }

 private:
  PolicyInfo info_;
  Seconds turns_;
  Seconds holds_;
  bool forgets_;
};

// Two jobs of 3000 s on one GPU; decisions every 300 s.
DriveResult DriveChecked(TurnsPolicy policy) {
  const Scenario scenario = ScenarioOf({{0, 1, 3000}, {0, 1, 3000}}, "1x1", SimOptions{});
  SimulatedCluster cluster(scenario);
  TurnsPolicy twin = policy;
  return Drive(cluster, policy, {}, {}, {.time_decisions = false, .twin = &twin});
}

TEST(PromiseCheckTest, PromisesThatAreTruePass) {
  const DriveResult often = DriveChecked({900, 0});
  const DriveResult seldom = DriveChecked({900, 900});
  EXPECT_LT(seldom.decisions, often.decisions) << "a promise that holds is not asked again";
}

TEST(PromiseCheckTest, AnAnswerThatDoesNotHoldAsPromisedIsAnError) {
  ExpectError(ExitCode::kRunFailed,
              {"policy 'turns'", "promised at 0 s", "until 1500 s", "asked at 900 s",
               "job 0: configuration 0 on node 0 (GPUs 0x1), but nothing"},
              [] {
                DriveChecked({900, 1500});
              });
}

TEST(PromiseCheckTest, APromiseUntilSomethingHappensIsCheckedToo) {
  ExpectError(ExitCode::kRunFailed, {"policy 'turns'", "until something happens", "asked at 900 s"},
              [] {
                DriveChecked({900, kNever});
              });
}

// It makes no promise: it only asks to be asked after events alone.
TEST(PromiseCheckTest, APolicyThatIsNotTimeDrivenIsNotAskedInBetween) {
  TurnsPolicy policy(900, 0);
  policy.set_time_driven(false);
  EXPECT_EQ(DriveChecked(policy).decisions, 2);
}

TEST(PromiseCheckTest, ChangesThatAreNotTheFullAnswerAreAnError) {
  ExpectError(ExitCode::kRunFailed,
              {"policy 'turns'", "decision 3 at 900 s", "job 0: configuration 0", "but nothing"},
              [] {
                DriveChecked({900, 0, true});
              });
}

TEST(PromiseCheckTest, DifferencesDoNotDependOnTheOrderOfEntries) {
  const NodeShare a{0, {1}, 1};
  const NodeShare b{1, {1}, 1};
  Allocation first;
  first.Add(7, 0, std::span(&a, 1));
  first.Add(2, 1, std::span(&b, 1));
  Allocation second;
  second.Add(2, 1, std::span(&b, 1));
  EXPECT_EQ(DifferenceOf(first, second),
            "job 7: configuration 0 on node 0 (GPUs 0x1), but nothing");
  second.Add(7, 0, std::span(&a, 1));
  EXPECT_EQ(DifferenceOf(first, second), "");
  Allocation again;
  again.Add(2, 1, std::span(&b, 1), true);
  again.Add(7, 0, std::span(&a, 1));
  EXPECT_EQ(
      DifferenceOf(first, again),
      "job 2: configuration 1 on node 1 (GPUs 0x1), but configuration 1 on node 1 (GPUs 0x1), "
      "launched again");
}

}  // namespace
}  // namespace allot
