// Restart jobs whose throughput model says how their GPUs are split: workers are started with the
// plan, and the journal holds it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "perf/transformers.h"
#include "plans/stated_plan.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class PlannedJobsTest : public LiveClusterFixture {
 protected:
  PlannedJobsTest() {
    options_.job_table.catalogue = &TransformersCatalogue();
    runtime_.nodes.clear();
    runtime_.AddNode("n1", 4, "h100");
    runtime_.AddNode("n2", 4, "h100");
  }

  RuntimeJob& AddJob(const std::string& id, const std::string& model,
                     ResizeMode mode = ResizeMode::kRestart) {
    RuntimeJob& job = runtime_.AddJob(id, 8, 1, 8, mode);
    job.model = model;
    return job;
  }
  // Gives the job so many GPUs, and polls until its workers were started with them.
  void StartOn(const std::string& id, GpuCount gpus) {
    ASSERT_TRUE(port_->WaitForChange(0));
    runtime_.plans.clear();
    Decide({{id, gpus}});
    Until("workers", [&] { return runtime_.plans.contains(id) && runtime_.Alive(id) > 0; });
  }
  StatedPlan PlanOf(const std::string& id) {
    return ParsePlan(runtime_.plans.at(id).value(), "the runtime");
  }
};

TEST_F(PlannedJobsTest, WorkersGetAPlanOfTheirGpus) {
  AddJob("a", "llama-7b");
  Serve();
  StartOn("a", 8);
  EXPECT_EQ(PlanOf("a").plan.gpus(), 8);
  EXPECT_EQ(PlanOf("a").layers, 32);
  StartOn("a", 4);
  EXPECT_EQ(PlanOf("a").plan.gpus(), 4);
}

TEST_F(PlannedJobsTest, OnlyRestartJobsOfSuchModelsHaveOne) {
  AddJob("hot", "gpt-125m", ResizeMode::kHot);
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  TrainOn({{"hot", 4}});
  EXPECT_EQ(runtime_.plans.at("hot"), std::nullopt);
  EXPECT_EQ(JobOf("hot").plan, std::nullopt);
  AddJob("own", "no-such-profile");
  ASSERT_TRUE(port_->WaitForChange(0));
  Decide({{"own", 4}});
  Until("workers", [&] { return runtime_.Alive("own") > 0; });
  EXPECT_EQ(runtime_.plans.at("own"), std::nullopt);
}

// A kind of its own, whose words the daemon does not know.
class StagesModel final : public ThroughputModel {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<UnitKind>& kinds() const override { return kinds_; }
  double Rate(const RunShape& shape, const TrainingState&) const override {
    return shape.units().of(0);
  }
  std::optional<std::string> PlanOn(const RunShape& shape) const override {
    return fmt::format("unet={} encoder=1", shape.units().of(0) - 1);
  }

 private:
  std::string name_ = "diffusion";
  std::vector<UnitKind> kinds_{{"gpu", {1, 0}}};
};

TEST_F(PlannedJobsTest, AnyModelMayAnswerAPlan) {
  Catalogue catalogue;
  catalogue.Add(std::make_shared<StagesModel>());
  options_.job_table.catalogue = &catalogue;
  AddJob("a", "diffusion");
  Serve();
  StartOn("a", 8);
  EXPECT_EQ(runtime_.plans.at("a"), "unet=7 encoder=1");
}

TEST_F(PlannedJobsTest, TablesHaveTheCountsAndTheStateOfTheModel) {
  AddJob("a", "llama-7b");
  Serve();
  ASSERT_TRUE(port_->WaitForChange(0));
  std::vector<int> counts;
  for (const Configuration& c : JobOf("a").table->configurations()) {
    if (counts.empty() || counts.back() != c.units.of(0)) counts.push_back(c.units.of(0));
    EXPECT_GT(c.state_seconds, 0);
  }
  EXPECT_EQ(counts, (std::vector<int>{2, 3, 4, 6, 8}));
  StartOn("a", 8);
  const float state = (*JobOf("a").table)[JobOf("a").running].state_seconds;
  EXPECT_EQ(port_->Observe().restart_cost[0], options_.job_table.cold_restart_cost + 2 * state)
      << "to write it and to read it";
}

TEST_F(PlannedJobsTest, ADaemonThatTakesOverStartsWorkersWithTheSamePlan) {
  AddJob("a", "llama-7b");
  Serve();
  StartOn("a", 8);
  const auto plan = runtime_.plans.at("a");
  // Another catalogue would choose otherwise: what the job runs by counts.
  const Catalogue slower = CatalogueOfFixedPlans(std::vector<FixedPlan>{
      {"llama-7b", "llama-7b", {.tensor = 2, .recompute = Recompute::kFull}}});
  options_.job_table.catalogue = &slower;
  Serve();
  EXPECT_EQ(JobOf("a").plan, plan);
  runtime_.plans.clear();
  for (const std::string& worker : runtime_.AliveIds("a")) runtime_.Kill(worker);
  Until("new workers", [&] { return runtime_.plans.contains("a"); });
  EXPECT_EQ(runtime_.plans.at("a"), plan);
  StartOn("a", 4);
  EXPECT_NE(PlanOf("a").plan.recompute, Recompute::kNone) << "the next decision is of the new one";
}

TEST_F(PlannedJobsTest, AJournalThatWasWrittenAnewHoldsThePlan) {
  AddJob("a", "llama-7b");
  Serve();
  StartOn("a", 8);
  LiveState again(options_.job_table);
  cluster_->state().ForEachRecord(cluster_->origin(), cluster_->now(),
                                  [&](const TimedRecord& record) { again.Apply(record); });
  EXPECT_EQ(again.job_table().Find("a")->plan, runtime_.plans.at("a"));
}

}  // namespace
}  // namespace allot
