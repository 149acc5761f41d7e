#include "plans/job_plan.h"

#include <gtest/gtest.h>

#include "core/strings.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

std::string Options(const std::string& framework, const StatedPlan& stated) {
  return Join(OptionsOf(framework, stated), " ");
}

constexpr StatedPlan kPipeline{{.data = 8, .tensor = 4, .pipeline = 2, .interleave = 5}, 512, 80};

TEST(JobPlan, OptionsOfAPipeline) {
  EXPECT_EQ(Options("megatron", kPipeline),
            "--tensor-model-parallel-size 4 --sequence-parallel --pipeline-model-parallel-size 2 "
            "--num-virtual-stages-per-pipeline-rank 5 --context-parallel-size 1 "
            "--expert-model-parallel-size 1 --micro-batch-size 1 --global-batch-size 512 "
            "--use-distributed-optimizer --ckpt-format torch_dist");
  EXPECT_EQ(Options("nemo", kPipeline),
            "trainer.strategy.tensor_model_parallel_size=4 "
            "trainer.strategy.sequence_parallel=true "
            "trainer.strategy.pipeline_model_parallel_size=2 "
            "trainer.strategy.virtual_pipeline_model_parallel_size=5 "
            "trainer.strategy.context_parallel_size=1 "
            "trainer.strategy.expert_model_parallel_size=1 "
            "data.micro_batch_size=1 data.global_batch_size=512 "
            "optim.config.use_distributed_optimizer=true");
  EXPECT_EQ(Options("torchtitan", kPipeline),
            "--parallelism.data_parallel_replicate_degree 1 "
            "--parallelism.data_parallel_shard_degree 8 "
            "--parallelism.fsdp_reshard_after_forward never "
            "--parallelism.tensor_parallel_degree 4 --parallelism.context_parallel_degree 1 "
            "--parallelism.expert_parallel_degree 1 --parallelism.pipeline_parallel_degree 2 "
            "--parallelism.pipeline_parallel_schedule Interleaved1F1B "
            "--parallelism.pipeline_parallel_layers_per_stage 8 "
            "--parallelism.pipeline_parallel_microbatch_size 1 "
            "--training.local_batch_size 64 --training.global_batch_size 512 "
            "--activation_checkpoint.mode none");
}

TEST(JobPlan, OptionsOfShardedWeights) {
  const StatedPlan stated{{.data = 16, .zero = 3, .micro_batch = 2}, 512, 80};
  EXPECT_NE(Options("megatron", stated)
                .find("--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
                      "--no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor"),
            std::string::npos)
      << Options("megatron", stated);
  EXPECT_NE(Options("torchtitan", stated).find("--training.local_batch_size 2 "),
            std::string::npos);
}

TEST(JobPlan, HalfOfTheLayersOfAStageAreRecomputed) {
  StatedPlan stated = kPipeline;
  stated.plan.recompute = Recompute::kHalf;
  const std::string megatron = Options("megatron", stated);
  EXPECT_TRUE(
      megatron.ends_with("--recompute-granularity full --recompute-method block "
                         "--recompute-num-layers 4"))
      << megatron;
  const std::string torchtitan = Options("torchtitan", stated);
  EXPECT_TRUE(
      torchtitan.ends_with("--activation_checkpoint.mode selective "
                           "--activation_checkpoint.selective_ac_option 2"))
      << torchtitan;
}

// The cost model gives what is left to the last stage; Megatron by itself refuses such a split.
TEST(JobPlan, UnevenStagesAreLaidOut) {
  const StatedPlan stated{{.data = 1, .pipeline = 3}, 512, 80};
  EXPECT_NE(Options("megatron", stated)
                .find("--pipeline-model-parallel-layout Et*27|t*27|t*26L --context"),
            std::string::npos)
      << Options("megatron", stated);
}

TEST(JobPlan, UnknownFrameworksAreRefused) {
  ExpectError(ExitCode::kUsage, {"unknown framework 'megatrn' (did you mean 'megatron'?)"},
              [] { (void)OptionsOf("megatrn", kPipeline); });
}

TEST(JobPlan, IsReadFromSlurmsRecordOfTheJob) {
  const char* record =
      "JobId=7 JobName=train.sh\n   Comment=allot min=4 plan=dp=9\n"
      "   AdminComment=allot job=7-6b asked=0,1,0, plan=dp=2,tp=2 shares=7-6b.0@n1:f: it waits\n";
  EXPECT_EQ(PlanInJobRecord(record), "dp=2 tp=2");
  EXPECT_EQ(PlanInJobRecord("JobId=7\n   AdminComment=allot job=7-6b\n"), std::nullopt);
}

}  // namespace
}  // namespace allot
