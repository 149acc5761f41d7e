#include "plans/job_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

using Words = std::vector<std::string>;

// "--tensor-model-parallel-size 4" is two words, "trainer.devices=8" one.
class CommandLineWords {
 public:
  explicit CommandLineWords(char joint) : joint_(joint) {}

  template <typename Value>
  void Add(const char* name, const Value& value) {
    if (joint_ == ' ') {
      words_.emplace_back(name);
      words_.push_back(fmt::format("{}", value));
    } else {
      words_.push_back(fmt::format("{}{}{}", name, joint_, value));
    }
  }
  void Add(const char* flag) { words_.emplace_back(flag); }
  Words Take() { return std::move(words_); }

 private:
  char joint_;
  Words words_;
};

int Pieces(const Plan& plan) { return plan.pipeline * plan.interleave; }
// Of the fullest piece; the last ones have what is left.
int LayersOfPiece(const StatedPlan& stated) {
  const int pieces = Pieces(stated.plan);
  return (stated.layers + pieces - 1) / pieces;
}

// Megatron divides layers evenly unless it is given what each piece has: "Et*7|t*7|t*6L".
std::optional<std::string> UnevenLayout(const StatedPlan& stated) {
  const int pieces = Pieces(stated.plan);
  if (stated.layers % pieces == 0) return std::nullopt;
  std::string layout = "E";
  int left = stated.layers;
  for (int piece = 0; piece < pieces; ++piece) {
    if (piece > 0) layout += '|';
    const int here = std::min(left, LayersOfPiece(stated));
    if (here > 0) layout += fmt::format("t*{}", here);
    left -= here;
  }
  return layout + "L";
}

const char* ShardingOf(const Plan& plan) {
  return plan.zero == 3 ? "optim_grads_params" : "optim_grads";
}

Words MegatronOptions(const StatedPlan& stated) {
  const Plan& plan = stated.plan;
  CommandLineWords words(' ');
  words.Add("--tensor-model-parallel-size", plan.tensor);
  if (plan.tensor > 1) words.Add("--sequence-parallel");
  words.Add("--pipeline-model-parallel-size", plan.pipeline);
  if (const auto layout = UnevenLayout(stated)) {
    words.Add("--pipeline-model-parallel-layout", *layout);
  } else if (plan.interleave > 1) {
    words.Add("--num-virtual-stages-per-pipeline-rank", plan.interleave);
  }
  words.Add("--context-parallel-size", plan.context);
  words.Add("--expert-model-parallel-size", plan.expert);
  if (plan.expert > 1) words.Add("--expert-tensor-parallel-size", 1);
  words.Add("--micro-batch-size", plan.micro_batch);
  words.Add("--global-batch-size", stated.batch);
  if (plan.zero >= 1) words.Add("--use-distributed-optimizer");
  if (plan.zero >= 2) {
    words.Add("--use-megatron-fsdp");
    words.Add("--data-parallel-sharding-strategy", ShardingOf(plan));
    words.Add("--no-gradient-accumulation-fusion");
  }
  words.Add("--ckpt-format", plan.zero >= 2 ? "fsdp_dtensor" : "torch_dist");
  if (plan.recompute == Recompute::kNone) return words.Take();
  words.Add("--recompute-granularity",
            plan.recompute == Recompute::kSelective ? "selective" : "full");
  if (plan.recompute == Recompute::kSelective) return words.Take();
  const bool half = plan.recompute == Recompute::kHalf;
  words.Add("--recompute-method", half ? "block" : "uniform");
  words.Add("--recompute-num-layers", half ? (LayersOfPiece(stated) + 1) / 2 : 1);
  return words.Take();
}

Words NemoOptions(const StatedPlan& stated) {
  const Plan& plan = stated.plan;
  CommandLineWords words('=');
  words.Add("trainer.strategy.tensor_model_parallel_size", plan.tensor);
  words.Add("trainer.strategy.sequence_parallel", plan.tensor > 1);
  words.Add("trainer.strategy.pipeline_model_parallel_size", plan.pipeline);
  if (const auto layout = UnevenLayout(stated)) {
    words.Add("trainer.strategy.pipeline_model_parallel_layout", *layout);
  } else if (plan.interleave > 1) {
    words.Add("trainer.strategy.virtual_pipeline_model_parallel_size", plan.interleave);
  }
  words.Add("trainer.strategy.context_parallel_size", plan.context);
  words.Add("trainer.strategy.expert_model_parallel_size", plan.expert);
  if (plan.expert > 1) words.Add("trainer.strategy.expert_tensor_parallel_size", 1);
  words.Add("data.micro_batch_size", plan.micro_batch);
  words.Add("data.global_batch_size", stated.batch);
  words.Add("optim.config.use_distributed_optimizer", plan.zero >= 1);
  if (plan.zero >= 2) {
    words.Add("trainer.strategy.fsdp", "megatron");
    words.Add("trainer.strategy.ddp.data_parallel_sharding_strategy", ShardingOf(plan));
  }
  if (plan.recompute == Recompute::kNone) return words.Take();
  words.Add("model.config.recompute_granularity",
            plan.recompute == Recompute::kSelective ? "selective" : "full");
  if (plan.recompute == Recompute::kSelective) return words.Take();
  const bool half = plan.recompute == Recompute::kHalf;
  words.Add("model.config.recompute_method", half ? "block" : "uniform");
  words.Add("model.config.recompute_num_layers", half ? (LayersOfPiece(stated) + 1) / 2 : 1);
  return words.Take();
}

// torchtitan always shards what it does not replicate; weights stay gathered below ZeRO-3.
Words TorchtitanOptions(const StatedPlan& stated) {
  const Plan& plan = stated.plan;
  CommandLineWords words(' ');
  const bool shards = plan.zero >= 1;
  words.Add("--parallelism.data_parallel_replicate_degree", shards ? 1 : plan.data);
  words.Add("--parallelism.data_parallel_shard_degree", shards ? plan.data : 1);
  words.Add("--parallelism.fsdp_reshard_after_forward", plan.zero == 3 ? "always" : "never");
  words.Add("--parallelism.tensor_parallel_degree", plan.tensor);
  words.Add("--parallelism.context_parallel_degree", plan.context);
  words.Add("--parallelism.expert_parallel_degree", plan.expert);
  words.Add("--parallelism.pipeline_parallel_degree", plan.pipeline);
  const bool staged = plan.pipeline > 1;
  if (staged) {
    words.Add("--parallelism.pipeline_parallel_schedule",
              plan.interleave > 1 ? "Interleaved1F1B" : "1F1B");
    words.Add("--parallelism.pipeline_parallel_layers_per_stage", LayersOfPiece(stated));
    words.Add("--parallelism.pipeline_parallel_microbatch_size", plan.micro_batch);
  }
  // A pipeline cuts the batch of a replica into micro-batches, others accumulate them.
  words.Add("--training.local_batch_size", staged ? stated.batch / plan.data : plan.micro_batch);
  words.Add("--training.global_batch_size", stated.batch);
  const bool some = plan.recompute == Recompute::kSelective || plan.recompute == Recompute::kHalf;
  words.Add("--activation_checkpoint.mode", some ? "selective" : NameOf(plan.recompute));
  if (some) {  // of certain operations, or of every second layer
    words.Add("--activation_checkpoint.selective_ac_option",
              plan.recompute == Recompute::kHalf ? "2" : "op");
  }
  return words.Take();
}

struct Framework {
  const char* name;
  Words (*options)(const StatedPlan&);
};
constexpr std::array kFrameworks = {Framework{"megatron", MegatronOptions},
                                    Framework{"torchtitan", TorchtitanOptions},
                                    Framework{"nemo", NemoOptions}};

std::string OutputOf(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> block;
  while (pipe != nullptr) {
    const std::size_t size = std::fread(block.data(), 1, block.size(), pipe.get());
    if (size == 0) break;
    output.append(block.data(), size);
  }
  return output;
}

}  // namespace

std::optional<std::string> PlanInJobRecord(std::string_view shown) {
  for (const std::string_view line : Split(shown, '\n')) {
    if (!Trim(line).starts_with("AdminComment=allot ")) continue;
    for (const std::string_view word : Split(Trim(line), ' ')) {
      if (!word.starts_with("plan=")) continue;
      std::string plan(word.substr(word.find('=') + 1));
      std::replace(plan.begin(), plan.end(), ',', ' ');
      return plan;
    }
  }
  return std::nullopt;
}

std::string PlanOfThisJob() {
  if (const char* plan = std::getenv("ALLOT_PLAN")) return plan;
  const char* job = std::getenv("SLURM_JOB_ID");
  const auto number = ParseInteger(job == nullptr ? "" : job);
  if (!number) {
    throw DataError("plan: the job has no plan: neither ALLOT_PLAN nor SLURM_JOB_ID is set");
  }
  const auto plan = PlanInJobRecord(OutputOf(fmt::format("scontrol show job {}", *number)));
  if (plan) return *plan;
  throw DataError(
      "plan: job {} has no plan in its AdminComment: its model must be a profile of the kind "
      "'transformer' in the catalogue of allot serve",
      *number);
}

std::vector<std::string> PlanFrameworks() {
  std::vector<std::string> names;
  names.reserve(kFrameworks.size());
  for (const Framework& framework : kFrameworks) names.emplace_back(framework.name);
  return names;
}

std::vector<std::string> OptionsOf(const std::string& framework, const StatedPlan& stated) {
  for (const Framework& known : kFrameworks) {
    if (framework == known.name) return known.options(stated);
  }
  throw UsageError("unknown framework '{}'{}", framework, DidYouMean(framework, PlanFrameworks()));
}

}  // namespace allot
