#include "plans/plan_search.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

// Llama 3 with 70 billion parameters, 512 sequences of 8192 tokens, on H100.
PlanProblem Llama70b() {
  PlanProblem problem;
  problem.training.decoder = {.layers = 80,
                              .hidden = 8192,
                              .heads = 64,
                              .kv_heads = 8,
                              .head_size = 128,
                              .ffn = 28672,
                              .vocabulary = 128256};
  problem.training.sequence = 8192;
  problem.training.batch = 512;
  problem.gpu = *FindGpu("h100");
  return problem;
}

// DeepSeek-V3.
Decoder Mixture() {
  return {.layers = 61,
          .hidden = 7168,
          .heads = 128,
          .kv_heads = 128,
          .head_size = 160,
          .ffn = 18432,
          .vocabulary = 129280,
          .experts = 256,
          .top_k = 8,
          .expert_ffn = 2048,
          .shared_ffn = 2048,
          .dense_layers = 3,
          .attention_parameters = 187105280};
}

TEST(Decoder, HasThePublishedParameters) {
  EXPECT_NEAR(Llama70b().training.decoder.Parameters() / 1e9, 70.6, 0.1);
  EXPECT_NEAR(Mixture().Parameters() / 1e9, 671, 1);
  EXPECT_NEAR(Mixture().ActiveParameters() / 1e9, 37, 1);
}

TEST(PlanCost, PlainDataParallelismKeepsAllStateOnEachGpu) {
  PlanProblem problem = Llama70b();
  const PlanCost cost(problem.training, problem.gpu, 8);
  const double state = 18 * problem.training.decoder.Parameters();  // 2 + 4 + 12 bytes
  const Plan plain{.data = 8, .zero = 0, .recompute = Recompute::kFull};
  EXPECT_GT(cost.MemoryOf(plain), state);
  EXPECT_LT(cost.MemoryOf({.data = 8, .zero = 3, .recompute = Recompute::kFull}), state / 5);
}

TEST(PlanCost, RecomputationTakesTimeAndSavesMemory) {
  PlanProblem problem = Llama70b();
  const PlanCost cost(problem.training, problem.gpu, 8);
  const Plan kept{.data = 8, .tensor = 8};
  Plan again = kept;
  again.recompute = Recompute::kFull;
  EXPECT_LT(cost.MemoryOf(again), cost.MemoryOf(kept));
  EXPECT_NEAR(cost.StepOf(again) / cost.StepOf(kept), 4.0 / 3, 0.05) << "a second forward pass";
}

TEST(PlanCost, TensorSplitsOverNodesAreSlower) {
  PlanProblem problem = Llama70b();
  const Plan plan{.data = 2, .tensor = 8};
  EXPECT_GT(PlanCost(problem.training, problem.gpu, 4).StepOf(plan),
            1.1 * PlanCost(problem.training, problem.gpu, 8).StepOf(plan));
}

TEST(PlanSearch, ThePlanUsesAllGpusAndFits) {
  const PlanProblem problem = Llama70b();
  const auto best = BestPlan(problem, {64, 8});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->plan.gpus(), 64);
  EXPECT_LT(best->memory, 82.4e9);
  EXPECT_EQ(512 % (best->plan.data * best->plan.micro_batch), 0);
}

TEST(PlanSearch, NothingIsBetterThanTheBest) {
  const PlanProblem problem = Llama70b();
  const PlanSurvey survey = SurveyPlans(problem, {64, 8});
  const auto best = BestPlan(problem, {64, 8});
  ASSERT_TRUE(best);
  ASSERT_FALSE(survey.best.empty());
  EXPECT_EQ(survey.best.front().plan, best->plan);
  EXPECT_GT(survey.tried, survey.fit);
  for (const RatedPlan& rated : survey.too_large) EXPECT_GT(rated.memory, survey.usable_memory);
}

TEST(PlanSearch, TheFloorIsWhereMemorySuffices) {
  PlanProblem problem = Llama70b();
  EXPECT_EQ(LeastGpus(problem, 64), 16);
  EXPECT_EQ(LeastGpus(problem, 8), std::nullopt);
  problem.gpu = *FindGpu("h200");
  EXPECT_EQ(LeastGpus(problem, 64), 10);
}

TEST(PlanSearch, TensorSplitsStayOnANode) {
  const PlanProblem problem = Llama70b();
  const auto best = BestPlan(problem, {64, 2});
  ASSERT_TRUE(best);
  EXPECT_LE(best->plan.tensor, 2);
}

TEST(PlanSearch, AFixedSplitIsKept) {
  PlanProblem problem = Llama70b();
  problem.split = {.tensor = 8, .pipeline = 4, .recompute = Recompute::kFull};
  const auto best = BestPlan(problem, {64, 8});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->plan.tensor, 8);
  EXPECT_EQ(best->plan.pipeline, 4);
  EXPECT_EQ(best->plan.data * best->plan.context, 2);
  EXPECT_EQ(best->plan.recompute, Recompute::kFull);
  EXPECT_FALSE(BestPlan(problem, {16, 8})) << "32 GPUs are one replica";
}

TEST(PlanSearch, TheBatchMustDivide) {
  PlanProblem problem = Llama70b();
  EXPECT_FALSE(BestPlan(problem, {17, 8}));
  problem.training.batch = 17 * 32;
  problem.training.decoder.layers = 8;
  EXPECT_TRUE(BestPlan(problem, {17, 8}));
}

TEST(PlanSearch, ExpertsAreSpreadOverReplicas) {
  PlanProblem problem = Llama70b();
  problem.training.decoder = Mixture();
  problem.training.sequence = 4096;
  problem.training.batch = 4096;
  const auto best = BestPlan(problem, {256, 8});
  ASSERT_TRUE(best);
  EXPECT_GT(best->plan.expert, 1);
  EXPECT_EQ(best->plan.gpus(), 256) << "the expert split uses no GPUs of its own";
}

TEST(PlanSearch, UsualCountsArePowersOfTwoAndThreeTimesThem) {
  std::vector<GpuCount> counts;
  for (GpuCount gpus = 1; gpus <= 64; ++gpus) {
    if (IsPlanCount(gpus)) counts.push_back(gpus);
  }
  EXPECT_EQ(counts, (std::vector<GpuCount>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}));
}

}  // namespace
}  // namespace allot
