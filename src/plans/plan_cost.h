#pragma once
// The cost of a plan: the memory that its fullest GPU needs and the time of a training step.
//
// An analytic model: matrix products at a share of the GPU's peak, everything else as bytes over
// memory bandwidth, collectives as rings within nodes and over the adapters of a node, the fill of
// the pipeline, and the part of each exchange that no computation hides. Its constants were fitted
// to 25 published speeds; `allot reproduce plans` compares it with 367 others (docs/plans.md).
// Mixtures of experts are predicted less well than dense models.

#include "core/types.h"
#include "plans/decoder.h"
#include "plans/gpu_facts.h"
#include "plans/plan.h"

namespace allot {

enum class Precision { kBf16, kFp8 };  // of matrix products; the optimizer's state is 32-bit

// How the attention of a program is computed.
enum class AttentionKernel {
  kUnfused,     // with its scores in memory
  kEarlyFused,  // FlashAttention 1 and 2 as the programs of 2023 used them
  kFused,
};

// What is trained, whatever the plan.
struct TrainingSetup {
  Decoder decoder;
  int sequence = 0;  // tokens
  int batch = 0;     // sequences of a step, over all GPUs
  Precision precision = Precision::kBf16;
  AttentionKernel attention = AttentionKernel::kFused;
  bool sequence_parallel = true;  // the parts between matrices are split with them
  double time_factor = 1;         // of the software on this GPU type, on the time of layers

  double TokensPerStep() const { return 1.0 * batch * sequence; }
};

// GPUs of a job, `node_gpus` on each node, or all on one.
struct PlanRoom {
  GpuCount gpus = 0;
  GpuCount node_gpus = 8;
};

class PlanCost {
 public:
  // `training` and `gpu` must outlive it. `node_gpus`: on each node, at least 1.
  PlanCost(const TrainingSetup& training, const GpuFacts& gpu, int node_gpus);

  // Bytes on the GPU that needs most: weights, gradients, optimizer, activations and logits.
  // The plan's data x micro_batch must not exceed the batch. O(1), about 60 ns.
  double MemoryOf(const Plan& plan) const;
  // Bytes that a job can use: what the runtime, NCCL and the allocator need is taken off.
  double usable_memory() const { return usable_memory_; }
  // Of a plan whose data x micro_batch divides the batch, whether or not it fits. O(1), about
  // 150 ns.
  Seconds StepOf(const Plan& plan) const;
  // The floating-point operations of the model over those of the peak, from 0 to 1.
  double UtilizationOf(const Plan& plan, Seconds step) const;

 private:
  // Of one GPU, one layer and one micro-batch.
  struct Layer {
    Seconds forward = 0;
    Seconds backward = 0;
    Seconds attention = 0;  // the part of the forward pass
    Seconds tensor = 0;     // exchange of one pass, as the next
    Seconds expert = 0;
    Seconds context_forward = 0;  // exchange that attention does not hide
    Seconds context_backward = 0;
  };
  // Parameters on a GPU before data parallelism shards them.
  struct StageParameters {
    double dense = 0;
    double expert = 0;
  };

  Layer LayerOf(const Plan& plan, bool mixture) const;
  StageParameters ParametersOf(const Plan& plan) const;
  double ActivationsOf(const Plan& plan, bool mixture) const;
  double Tokens(const Plan& plan) const;    // of a micro-batch on one GPU of the context split
  int StageLayers(const Plan& plan) const;  // of the fullest stage; the last have what is left
  Seconds ExpertExchange(const Plan& plan, double tokens) const;
  Seconds DataExchange(const Plan& plan, Seconds stage_forward, Seconds stage_backward,
                       int micro_batches) const;
  // A ring collective of `bytes` over `ranks` GPUs, of which `on_node` share a node.
  Seconds Ring(double bytes, int ranks, int on_node) const;

  const TrainingSetup& training_;
  const GpuFacts& gpu_;
  int node_gpus_;
  double usable_memory_;
  double layer_parameters_;  // of a layer without its routed experts, mean over the layers
  double matmul_;            // FLOP/s of matrix products in the training's precision, as the next
  double expert_matmul_;
  double bf16_;       // of 16-bit ones
  double bandwidth_;  // bytes/s of memory
  double link_;       // bytes/s between GPUs of a node
  double network_;    // bytes/s of a GPU between nodes
};

}  // namespace allot
