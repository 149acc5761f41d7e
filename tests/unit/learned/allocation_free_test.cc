// A decision of the learned policy takes no memory from the heap once its buffers have grown: every
// operator new of this program is counted.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "agents/learned/agent.h"
#include "agents/learned/index_agent.h"
#include "core/rng.h"
#include "perf/elastic.h"
#include "sim/simulated_cluster.h"

namespace {

thread_local std::int64_t allocations = 0;

void* Counted(std::size_t size) {
  ++allocations;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return Counted(size); }
void* operator new[](std::size_t size) { return Counted(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return Counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace allot {
namespace {

// Jobs that are all there at first and end one after the other: what a decision needs only shrinks.
Scenario CrowdScenario(bool estimated) {
  Rng rng(1, "allocation-free");
  Workload workload;
  for (int i = 0; i < 120; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.gpus = static_cast<GpuCount>(1 << rng.Below(4));
    job.duration = 20000 + rng.Exponential(100000);
    job.user = workload.users.Intern(std::to_string(i % 7));
    if (i % 3 == 0) job.group = workload.groups.Intern(std::to_string(i % 5));
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  MakeElastic({.seed = 1}, Catalogue::Embedded(), &workload);
  SimOptions options;
  options.lengths = LengthEstimates::Parse(estimated ? "true" : "none");
  return {std::move(workload), ClusterSpec::Parse("8x4,4x8:v100"), options};
}

class LearnedDecision : public testing::TestWithParam<bool> {};

TEST_P(LearnedDecision, TakesNoMemoryFromTheHundredthOn) {
  const Scenario scenario = CrowdScenario(GetParam());
  const auto policy =
      MakeLearnedPolicy({IndexAgentAt({.alpha = 0.25F, .beta = 0.5F, .kappa = 0.25F}, 16, 1), {}});
  policy->OnEpisodeStart({});
  SimulatedCluster cluster(scenario);
  Allocation allocation;
  std::int64_t decisions = 0;
  do {
    const Observation& now = cluster.Observe();
    const std::int64_t before = allocations;
    policy->Decide(now, &allocation);
    const std::int64_t taken = allocations - before;
    if (decisions >= 100) {
      ASSERT_EQ(taken, 0) << "decision " << decisions;
    }
    cluster.Apply(allocation);
    ++decisions;
  } while (cluster.WaitForChange(0));
  EXPECT_GT(decisions, 200);
}

INSTANTIATE_TEST_SUITE_P(Lengths, LearnedDecision, testing::Bool(), [](const auto& estimated) {
  return estimated.param ? "Estimated" : "Unknown";
});

}  // namespace
}  // namespace allot
