#pragma once
// Random small worlds, and what is checked at every decision in them: for the tests of everything
// registered that decides.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "cluster/validate.h"
#include "core/rng.h"
#include "perf/elastic.h"
#include "sched/incremental.h"
#include "sched/recorded_policy.h"
#include "sim/run.h"
#include "tests/unit/sched/world.h"

namespace allot::testing_support {

struct WorldShape {
  const char* name;
  const char* cluster;
  bool elastic;
};
inline constexpr WorldShape kShapes[] = {{"rigid", "3x4", false},
                                         {"elastic", "3x4", true},
                                         {"mixed GPUs, rigid", "2x4:v100,3x2:k80", false},
                                         {"mixed GPUs, elastic", "2x4:v100,3x2:k80", true}};

inline Workload RandomWorkload(int jobs, std::uint64_t seed, GpuCount largest, bool elastic) {
  Rng rng(seed, "conformance");
  Workload workload;
  workload.name = "random";
  Seconds submit = 0;
  for (int i = 0; i < jobs; ++i) {
    if (rng.Below(3) > 0) submit += rng.Exponential(400);  // some arrive together
    Job job;
    job.id = fmt::format("job{}", i);
    job.submit = submit;
    job.gpus = static_cast<GpuCount>(1 + rng.Below(static_cast<std::uint64_t>(largest)));
    job.duration = 10 + rng.Exponential(1500);
    job.priority = i % 3;
    if (i % 4 != 0) job.deadline = submit + 1000 * (i % 4);
    if (i % 5 != 0) job.tenant = workload.tenants.Intern(fmt::format("tenant{}", i % 2));
    if (i % 7 != 0) job.user = workload.users.Intern(fmt::format("user{}", i % 3));
    if (i % 2 != 0) job.group = workload.groups.Intern(fmt::format("group{}", i % 4));
    workload.jobs.push_back(job);
  }
  workload.Finish();
  if (elastic) MakeElastic({.seed = seed}, Catalogue::Embedded(), &workload);
  return workload;
}

inline Scenario RandomScenario(const WorldShape& shape, std::uint64_t seed, GpuCount largest = 6) {
  SimOptions options;
  options.seed = seed;
  return Scenario(RandomWorkload(30, seed, largest, shape.elastic),
                  ClusterSpec::Parse(shape.cluster), options);
}

// Checks every decision by the rules (the cluster does so too; a policy must not rely on that).
class ValidityCheck : public DecisionListener {
 public:
  void OnDecision(const Observation& o, const Allocation& allocation) override {
    EXPECT_EQ(ValidateAllocation(o, allocation).message(), "") << "decision " << o.decision;
  }
};

// A policy that does not say that it reads lengths decides the same whatever they are.
inline void ExpectLengthsToBeSaid(const std::string& spec, const WorldShape& shape,
                                  std::uint64_t seed, GpuCount largest) {
  const auto policy = MakePolicy(spec);
  if (policy->info().needs_lengths || policy->info().oracle) return;
  DecisionLog logs[2];
  for (const bool told : {false, true}) {
    SimOptions options;
    options.seed = seed;
    options.lengths = LengthEstimates::Parse(told ? "true" : "none");
    const Scenario scenario(RandomWorkload(30, seed, largest, shape.elastic),
                            ClusterSpec::Parse(shape.cluster), options);
    DecisionCollector collector(&logs[told ? 1 : 0]);
    DecisionListener* const listeners[] = {&collector};
    RunPolicy(scenario, *policy, listeners);
  }
  EXPECT_TRUE(logs[0].allocations == logs[1].allocations)
      << spec << " reads lengths, and its info does not say so, " << shape.name;
}

// At each decision a twin of the policy sees the same moment with its rows shuffled.
class OrderCheck : public DecisionListener {
 public:
  explicit OrderCheck(std::unique_ptr<Policy> twin)
      : twin_(std::move(twin)), rng_(3, "order-check") {}
  void OnDecision(const Observation& o, const Allocation& allocation) override {
    const Observation shuffled = Permuted(o, Shuffled(o.job.size(), &rng_));
    Allocation answer;
    twin_->Decide(shuffled, &answer);
    EXPECT_EQ(AsSet(answer), AsSet(allocation))
        << "decision " << o.decision << " at " << o.now << " s";
  }

 private:
  std::unique_ptr<Policy> twin_;
  Rng rng_;
};

// At each decision a twin sees the same moment and must say the same, to the order of the entries
// and to how long it holds.
class TwinCheck : public DecisionListener {
 public:
  // `policy`: whose run it is.
  TwinCheck(Policy* twin, Policy* policy) : twin_(twin), policy_(policy) {}
  void OnDecision(const Observation& o, const Allocation& allocation) override {
    Allocation answer;
    twin_->Decide(o, &answer);
    EXPECT_TRUE(answer == allocation) << "decision " << o.decision << " at " << o.now << " s";
    const auto running = running_.Of(o, allocation);
    EXPECT_EQ(HoldsUntil(*twin_, o, running), HoldsUntil(*policy_, o, running))
        << "decision " << o.decision;
    ++decisions_;
  }
  std::int64_t decisions() const { return decisions_; }

 private:
  Policy* twin_;
  Policy* policy_;
  RunningUnder running_;
  std::int64_t decisions_ = 0;
};

}  // namespace allot::testing_support
