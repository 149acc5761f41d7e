// What must hold for every registered policy, today's and tomorrow's; nothing here names one,
// except that the learned policy gets a checkpoint to load.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agents/learned/index_agent.h"
#include "cluster/validate.h"
#include "core/rng.h"
#include "models/checkpoint.h"
#include "perf/elastic.h"
#include "sim/lower_bound.h"
#include "sim/run.h"
#include "tests/unit/sched/world.h"

namespace allot {
namespace {

using testing_support::AsSet;
using testing_support::Permuted;
using testing_support::Shuffled;

// A checkpoint near srtf, with random hidden weights.
void WriteCheckpoint(const std::string& path) {
  Checkpoint checkpoint;
  checkpoint.kind = kIndexKind;
  checkpoint.feature_version = kFeatureVersion;
  checkpoint.weights = IndexAgentAt({.alpha = 0.5F, .beta = 0.3F, .kappa = 0.3F}, 8, 1);
  checkpoint.state = nlohmann::json::object();
  checkpoint.config = nlohmann::json::object();
  SaveCheckpoint(checkpoint, path);
}

bool LoadsCheckpoint(const std::string& id) {
  const auto& params = Registry<PolicyInfo>::Global().Get("policy", id).params;
  return std::any_of(params.begin(), params.end(),
                     [](const ParamSpec& param) { return param.name == "checkpoint"; });
}

struct WorldShape {
  const char* name;
  const char* cluster;
  bool elastic;
};
constexpr WorldShape kShapes[] = {{"rigid", "3x4", false},
                                  {"elastic", "3x4", true},
                                  {"mixed GPUs, rigid", "2x4:v100,3x2:k80", false},
                                  {"mixed GPUs, elastic", "2x4:v100,3x2:k80", true}};

Workload RandomWorkload(int jobs, std::uint64_t seed, GpuCount largest, bool elastic) {
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
    workload.jobs.push_back(job);
  }
  workload.Finish();
  if (elastic) MakeElastic({.seed = seed}, Catalogue::Embedded(), &workload);
  return workload;
}

Scenario RandomScenario(const WorldShape& shape, std::uint64_t seed) {
  SimOptions options;
  options.seed = seed;
  return Scenario(RandomWorkload(30, seed, 6, shape.elastic), ClusterSpec::Parse(shape.cluster),
                  options);
}

// Checks every decision by the rules (the cluster does so too; a policy must not rely on that).
class ValidityCheck : public DecisionListener {
 public:
  void OnDecision(const Observation& o, const Allocation& allocation) override {
    EXPECT_EQ(ValidateAllocation(o, allocation).message(), "") << "decision " << o.decision;
  }
};

class PolicyConformanceTest : public testing::TestWithParam<std::string> {
 protected:
  PolicyConformanceTest()
      : spec_(GetParam()),
        checkpoint_(fmt::format("{}/allot-conformance-{}", testing::TempDir(), getpid())) {
    if (!LoadsCheckpoint(spec_)) return;
    WriteCheckpoint(checkpoint_);
    spec_ += ":checkpoint=" + checkpoint_;
  }
  ~PolicyConformanceTest() override { std::filesystem::remove_all(checkpoint_); }
  std::unique_ptr<Policy> Make() const { return MakePolicy(spec_); }

 private:
  std::string spec_;
  std::string checkpoint_;
};

TEST_P(PolicyConformanceTest, DecidesLegallyAndEveryJobFinishes) {
  for (const WorldShape& shape : kShapes) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const Scenario scenario = RandomScenario(shape, seed);
      ValidityCheck check;
      DecisionListener* const listeners[] = {&check};
      for (const JobRecord& record : RunPolicy(scenario, *Make(), listeners).records) {
        EXPECT_LT(record.finish, kNever)
            << shape.name << ", seed " << seed << ", job " << record.job;
        EXPECT_GE(record.first_start, record.submit) << shape.name << ", seed " << seed;
      }
    }
  }
}

TEST_P(PolicyConformanceTest, NoMeanJctIsBelowTheLowerBound) {
  for (const WorldShape& shape : kShapes) {
    for (std::uint64_t seed = 10; seed < 13; ++seed) {
      for (const bool whole : {false, true}) {
        SimOptions options;
        options.seed = seed;
        options.charge_whole_intervals = whole;
        options.decide_on_events = !whole && seed == 11;
        options.restart_cost = seed == 12 ? 0 : 30;
        const Scenario scenario(RandomWorkload(2 + static_cast<int>(seed), seed, 4, shape.elastic),
                                ClusterSpec::Parse(shape.cluster), options);
        const double bound = MeanJctBound(scenario).mean_jct;
        double mean = 0;
        for (const JobRecord& record : RunPolicy(scenario, *Make()).records)
          mean += (record.finish - record.submit) / static_cast<double>(2 + seed);
        EXPECT_GE(mean, bound * (1 - 1e-9))
            << shape.name << ", seed " << seed << (whole ? ", whole intervals" : "");
      }
    }
  }
}

TEST_P(PolicyConformanceTest, EqualSeedsGiveEqualDecisions) {
  for (const WorldShape& shape : kShapes) {
    const Scenario scenario = RandomScenario(shape, 1);
    DecisionLog logs[2];
    const auto reused = Make();  // a new episode starts afresh
    for (DecisionLog& log : logs) {
      DecisionCollector collector(&log);
      DecisionListener* const listeners[] = {&collector};
      RunPolicy(scenario, *reused, listeners);
    }
    EXPECT_EQ(logs[0].times, logs[1].times) << shape.name;
    EXPECT_TRUE(logs[0].allocations == logs[1].allocations) << shape.name;
  }
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

TEST_P(PolicyConformanceTest, TheOrderOfRowsDoesNotMatter) {
  for (const WorldShape& shape : kShapes) {
    SCOPED_TRACE(shape.name);
    const Scenario scenario = RandomScenario(shape, 2);
    auto twin = Make();
    const ScenarioForesight foresight(scenario);
    twin->OnEpisodeStart({.seed = 2, .cluster = &scenario.cluster(), .foresight = &foresight});
    OrderCheck check(std::move(twin));
    DecisionListener* const listeners[] = {&check};
    RunPolicy(scenario, *Make(), listeners);
    if (HasFailure()) return;
  }
}

TEST_P(PolicyConformanceTest, AnEmptyQueueGivesAnEmptyAllocation) {
  testing_support::World world("2x4");
  const auto policy = Make();
  policy->OnEpisodeStart({.seed = 1, .cluster = world.o.cluster});
  Allocation allocation;
  const NodeShare stale{0, {1}, 1};
  allocation.Add(5, 0, std::span(&stale, 1));  // left from an earlier decision
  policy->Decide(world.o, &allocation);
  EXPECT_TRUE(allocation.entries().empty());
}

TEST_P(PolicyConformanceTest, AJobThatTakesTheWholeClusterRuns) {
  Workload workload = RandomWorkload(20, 4, 4, false);
  Job giant;
  giant.id = "giant";
  giant.submit = 500;
  giant.gpus = 12;
  giant.duration = 600;
  workload.jobs.push_back(giant);
  workload.Finish();
  const Scenario scenario(std::move(workload), ClusterSpec::Parse("3x4"), {});
  for (const JobRecord& record : RunPolicy(scenario, *Make()).records) {
    EXPECT_LT(record.finish, kNever)
        << scenario.workload().jobs[static_cast<std::size_t>(record.job)].id;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, PolicyConformanceTest,
                         testing::ValuesIn(Registry<PolicyInfo>::Global().ids()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace allot
