#include "plans/plan_cost.h"

#include <algorithm>
#include <cmath>

namespace allot {
namespace {

constexpr double kGiga = 1e9;
constexpr double kTera = 1e12;

// Fitted to the 25 points that fidelity/plan_points.cc names, with priors; those without a comment
// on a source are results of that fit.
constexpr double kFp8Share = 0.879632;        // of the doubled peak, dense layers
constexpr double kFp8ExpertShare = 0.582142;  // likewise, experts
constexpr double kExpertShare = 0.688237;     // of large products: those of experts are small
constexpr double kAttentionShare = 0.606255;  // of matmul_share: fused attention
constexpr double kEarlyAttentionShare = 0.350092;
constexpr double kUnfusedAttentionShare = 0.5;   // prior
constexpr double kUnfusedBytes = 0.942773 * 13;  // per head and pair of tokens
constexpr double kElementwise = 0.850031;        // bytes of norms and activations over the least
constexpr double kHiddenTensor = 0.432752;       // parts of exchanges that computation hides
constexpr double kHiddenExpert = 0.00953201;
constexpr double kHiddenData = 0.720964;
constexpr double kHiddenPipeline = 0.733181;
constexpr double kHiddenContext = 0.8;  // prior
constexpr double kScale = 0.00445793;   // longer steps for each doubling beyond 8 GPUs
constexpr Seconds kStepOverhead = 0.00791857;
constexpr Seconds kLeastLayer = 60e-6;  // launches of a layer's kernels, prior; of experts below
constexpr Seconds kLeastMixtureLayer = 300e-6;
constexpr double kBandwidthShare = 0.75;  // priors: of memory, links and network
constexpr double kLinkShare = 0.78;
constexpr double kNetworkShare = 0.85;
constexpr Seconds kLatency = 12e-6;

constexpr double kWeightBytes = 2;
constexpr double kGradientBytes = 4;
constexpr double kOptimizerBytes = 12;    // 32-bit weights and two moments
constexpr double kOptimizerTraffic = 30;  // bytes read and written for a parameter's update
constexpr double kReservedBytes = 3.5e9;  // context, NCCL, allocator
constexpr double kSelectiveKeeps = 0.65;  // of activations, with fused attention

int CeilDiv(int a, int b) { return (a + b - 1) / b; }

}  // namespace

PlanCost::PlanCost(const TrainingSetup& training, const GpuFacts& gpu, int node_gpus)
    : training_(training),
      gpu_(gpu),
      node_gpus_(node_gpus),
      usable_memory_(gpu.memory_gb * kGiga - kReservedBytes) {
  const Decoder& d = training.decoder;
  layer_parameters_ = d.AttentionParameters() + (1 - d.MixtureShare()) * d.DenseParameters() +
                      d.MixtureShare() * d.SharedParameters();
  const bool fp8 = training.precision == Precision::kFp8;
  bf16_ = gpu.peak_tflops * kTera * gpu.matmul_share;
  matmul_ = fp8 ? bf16_ * gpu.fp8_speedup * kFp8Share : bf16_;
  expert_matmul_ = (fp8 ? bf16_ * gpu.fp8_speedup * kFp8ExpertShare : bf16_) * kExpertShare;
  bandwidth_ = gpu.memory_bandwidth * kGiga * kBandwidthShare;
  link_ = gpu.link_bandwidth * kGiga * kLinkShare;
  network_ = gpu.network_bandwidth * kGiga * kNetworkShare;
}

double PlanCost::Tokens(const Plan& plan) const {
  return 1.0 * plan.micro_batch * training_.sequence / plan.context;
}

int PlanCost::StageLayers(const Plan& plan) const {
  return CeilDiv(training_.decoder.layers, plan.pipeline * plan.interleave) * plan.interleave;
}

PlanCost::StageParameters PlanCost::ParametersOf(const Plan& plan) const {
  const Decoder& d = training_.decoder;
  const int layers = StageLayers(plan);
  const double embeddings = plan.pipeline == 1 && !d.tied ? 2 : 1;
  return {(layers * layer_parameters_ + embeddings * d.EmbeddingParameters()) / plan.tensor,
          layers * d.MixtureShare() * d.experts / plan.expert * d.ExpertParameters()};
}

// Bytes that the backward pass needs of one layer and micro-batch where nothing is recomputed.
double PlanCost::ActivationsOf(const Plan& plan, bool mixture) const {
  const Decoder& d = training_.decoder;
  const double tokens = Tokens(plan);
  const double ffn = mixture ? 3.0 * d.shared_ffn : (d.gated ? 3.0 : 2.0) * d.ffn;
  const double projections = 2.0 * d.head_size * (d.heads + d.kv_heads);
  const double outside = 4.0 * d.hidden / (training_.sequence_parallel ? plan.tensor : 1);
  double bytes = 2 * tokens * (outside + (projections + ffn) / plan.tensor);
  if (training_.attention == AttentionKernel::kUnfused) {
    bytes += 5.0 * d.heads / plan.tensor * tokens * training_.sequence;
  }
  if (mixture) bytes += 2 * tokens / plan.tensor * d.top_k * (d.hidden + 3.0 * d.expert_ffn);
  return bytes;
}

double PlanCost::MemoryOf(const Plan& plan) const {
  const Decoder& d = training_.decoder;
  const int layers = StageLayers(plan);
  const int micro_batches = std::max(1, training_.batch / (plan.data * plan.micro_batch));
  const StageParameters parameters = ParametersOf(plan);
  // ZeRO shards over the replicas; experts have fewer of them.
  const double replicas = 1.0 * plan.data * plan.context;
  const double expert_replicas = std::max(1.0, replicas * plan.tensor / plan.expert);
  const double whole = (plan.zero >= 3 ? 0 : kWeightBytes) + (plan.zero >= 2 ? 0 : kGradientBytes) +
                       (plan.zero >= 1 ? 0 : kOptimizerBytes);
  const double sharded = kWeightBytes + kGradientBytes + kOptimizerBytes - whole;
  double weights = parameters.dense * (whole + sharded / replicas) +
                   parameters.expert * (whole + sharded / expert_replicas);
  if (plan.zero >= 3) {  // two gathered layers, their weights and gradients
    weights += 8 * (parameters.dense + parameters.expert) / layers;
  }

  const double tokens = Tokens(plan);
  const double dense = ActivationsOf(plan, false);
  const double mixture = d.mixture() ? ActivationsOf(plan, true) : 0;
  double kept = (1 - d.MixtureShare()) * dense + d.MixtureShare() * mixture;
  const double input = 2.0 * tokens * d.hidden / (training_.sequence_parallel ? plan.tensor : 1);
  switch (plan.recompute) {
    case Recompute::kNone:
      break;
    case Recompute::kSelective:
      kept = training_.attention == AttentionKernel::kUnfused
                 ? kept - 5.0 * d.heads / plan.tensor * tokens * training_.sequence
                 : kept * kSelectiveKeeps;
      break;
    case Recompute::kHalf:
      kept = (input + kept) / 2;
      break;
    case Recompute::kFull:
      kept = input;
      break;
  }
  // One forward, one backward: a stage keeps as many micro-batches as there are stages (1F1B);
  // interleaved stages keep more (Narayanan et al., arXiv 2104.04473).
  const double in_flight =
      std::min(micro_batches, plan.pipeline) *
      (plan.interleave > 1 ? 1 + (plan.pipeline - 1.0) / (plan.pipeline * plan.interleave) : 1.0);
  const double recomputed = plan.recompute == Recompute::kNone ? 0 : std::max(dense, mixture);
  const double activations = kept * layers * in_flight + recomputed;
  // Logits and their gradient with a fused loss. They are on the last stage, which keeps one
  // micro-batch only.
  const double logits = tokens * d.vocabulary / plan.tensor * (plan.pipeline == 1 ? 6 : 4);
  return weights + activations +
         (plan.pipeline == 1 ? logits
                             : std::max(0.0, logits - activations * (1 - 1.0 / in_flight)));
}

Seconds PlanCost::Ring(double bytes, int ranks, int on_node) const {
  if (ranks <= 1) return 0;
  on_node = std::min(on_node, ranks);
  const int nodes = CeilDiv(ranks, on_node);
  Seconds time = kLatency * std::log2(1.0 * ranks);
  if (on_node > 1) time += bytes * (on_node - 1) / on_node / link_;
  if (nodes > 1) time += bytes * (nodes - 1) / nodes / (on_node * network_);
  return time;
}

// All-to-all to the experts and back. A token is sent once to each node that has an expert of it.
Seconds PlanCost::ExpertExchange(const Plan& plan, double tokens) const {
  const Decoder& d = training_.decoder;
  if (plan.expert <= 1) return 0;
  const int nodes = CeilDiv(plan.expert, std::min(plan.expert, node_gpus_));
  const double bytes = 2 * tokens * d.top_k * d.hidden * (plan.expert - 1.0) / plan.expert;
  const double other_nodes =
      nodes > 1 ? nodes * (1 - std::pow(1 - 1.0 / nodes, d.top_k)) * (nodes - 1.0) / nodes : 0;
  return 2 *
         (std::max(bytes / link_, 2 * tokens * d.hidden * other_nodes / network_) + 3 * kLatency);
}

PlanCost::Layer PlanCost::LayerOf(const Plan& plan, bool mixture) const {
  const Decoder& d = training_.decoder;
  const double tokens = Tokens(plan), split = plan.tensor;
  const double queries = 1.0 * d.heads * d.head_size, keys = 1.0 * d.kv_heads * d.head_size;
  const double parameters =
      d.AttentionParameters() + (mixture ? d.SharedParameters() : d.DenseParameters());
  const double ffn = mixture ? 3.0 * d.shared_ffn : (d.gated ? 3.0 : 2.0) * d.ffn;
  const bool fused = training_.attention != AttentionKernel::kUnfused;

  const double flops = 2 * tokens * parameters / split;
  const double matrix_bytes =
      2 * (parameters / split + tokens * (4.0 * d.hidden + (2 * queries + 2 * keys + ffn) / split));
  const double other_bytes =
      kElementwise * 2 * tokens *
      (12.0 * d.hidden / (training_.sequence_parallel ? split : 1) + 2 * ffn / split);
  // Causal attention needs half of the scores, which only fused kernels leave out.
  const double attention_flops =
      4 * tokens * training_.sequence * queries / split * (fused ? 0.5 : 1);
  const double attention_bytes =
      fused ? 0 : kUnfusedBytes * d.heads / split * tokens * training_.sequence;
  const double attention_share =
      !fused ? kUnfusedAttentionShare
             : (training_.attention == AttentionKernel::kEarlyFused ? kEarlyAttentionShare
                                                                    : kAttentionShare);

  Layer layer;
  layer.attention = attention_flops / (bf16_ * attention_share) + attention_bytes / bandwidth_;
  const Seconds attention_backward = (fused ? 2.5 : 2) * layer.attention;
  Seconds forward = flops / matmul_ + (matrix_bytes + other_bytes) / bandwidth_;
  if (mixture) {
    const double pairs = tokens / split * d.top_k;
    const double expert_bytes = 2 * (1.0 * d.experts / plan.expert * d.ExpertParameters() +
                                     pairs * (6.0 * d.hidden + 4.0 * d.expert_ffn));
    forward += 2 * pairs * d.ExpertParameters() / expert_matmul_ + expert_bytes / bandwidth_;
    layer.expert = ExpertExchange(plan, tokens / split);
  }
  const Seconds least = mixture ? kLeastMixtureLayer : kLeastLayer;
  const double factor = training_.time_factor;
  layer.forward = std::max(forward + layer.attention, least) * factor;
  layer.backward = std::max(2 * forward + attention_backward, 2 * least) * factor;
  layer.attention *= factor;
  // Two all-reduces a pass, each a reduce-scatter and an all-gather.
  if (plan.tensor > 1) layer.tensor = 4 * Ring(tokens * d.hidden * 2, plan.tensor, node_gpus_);
  if (plan.context > 1) {
    const Seconds exchange = Ring(4 * keys / split * plan.micro_batch * training_.sequence,
                                  plan.context, std::max(1, node_gpus_ / plan.tensor));
    layer.context_forward =
        std::max(0.0, exchange - kHiddenContext * layer.attention) + 0.1 * exchange;
    layer.context_backward =
        std::max(0.0, 2 * exchange - kHiddenContext * attention_backward * factor) + 0.2 * exchange;
  }
  return layer;
}

// Gradients and, with ZeRO 3, weights between replicas: what the passes do not hide.
Seconds PlanCost::DataExchange(const Plan& plan, Seconds stage_forward, Seconds stage_backward,
                               int micro_batches) const {
  const int replicas = plan.data * plan.context;
  if (replicas <= 1) return 0;
  const StageParameters parameters = ParametersOf(plan);
  const int expert_replicas = std::max(1, replicas * plan.tensor / plan.expert);
  const int on_node = std::max(1, node_gpus_ / plan.tensor);
  const int experts_on_node = std::max(1, node_gpus_ / plan.expert);
  const auto move = [&](double bytes) {
    return Ring(bytes * parameters.dense, replicas, on_node) +
           Ring(bytes * parameters.expert, expert_replicas, experts_on_node);
  };
  const auto exposed = [](Seconds exchange, Seconds hidden_by) {
    return std::max(0.0, exchange - kHiddenData * hidden_by) + 0.08 * exchange;
  };
  if (plan.zero >= 3) {
    const Seconds gather = move(kWeightBytes);
    return micro_batches * (exposed(gather, stage_forward) + exposed(gather, stage_backward)) +
           exposed(gather, std::max(0.0, stage_backward - gather));
  }
  if (plan.zero == 0) {
    return exposed(2 * move(kWeightBytes), plan.pipeline > 1 ? 0 : stage_backward);
  }
  return exposed(move(plan.zero == 2 ? 2 : kGradientBytes), stage_backward) +
         exposed(move(kWeightBytes), stage_forward);
}

Seconds PlanCost::StepOf(const Plan& plan) const {
  const Decoder& d = training_.decoder;
  const int micro_batches = training_.batch / (plan.data * plan.micro_batch);
  const int layers = StageLayers(plan);
  const int last_layers = std::max(0, layers - std::max(0, layers * plan.pipeline - d.layers));
  const double share = d.MixtureShare();
  const Layer dense = share < 1 ? LayerOf(plan, false) : Layer{};
  const Layer mixture = d.mixture() ? LayerOf(plan, true) : Layer{};
  const auto mean = [share](double a, double b) { return (1 - share) * a + share * b; };

  const Seconds forward = mean(dense.forward, mixture.forward);
  const Seconds backward = mean(dense.backward, mixture.backward);
  const Seconds exchange = (1 - kHiddenTensor) * mean(dense.tensor, mixture.tensor) +
                           (1 - kHiddenExpert) * share * mixture.expert;
  const Seconds forward_pass =
      forward + exchange + mean(dense.context_forward, mixture.context_forward);
  Seconds backward_pass =
      backward + exchange + mean(dense.context_backward, mixture.context_backward);
  switch (plan.recompute) {
    case Recompute::kNone:
      break;
    case Recompute::kSelective:
      backward_pass += training_.attention == AttentionKernel::kUnfused
                           ? mean(dense.attention, mixture.attention)
                           : 0.12 * forward;
      break;
    case Recompute::kHalf:
      backward_pass += forward_pass / 2;
      break;
    case Recompute::kFull:
      backward_pass += forward_pass;
      break;
  }

  const double tokens = Tokens(plan);
  const Seconds head = (6 * tokens * d.EmbeddingParameters() / plan.tensor / bf16_ +
                        3 * 14 * tokens * d.vocabulary / plan.tensor / bandwidth_) *
                       training_.time_factor;
  const Seconds layer_time = forward_pass + backward_pass;
  const Seconds stage = plan.pipeline == 1
                            ? layers * layer_time + head
                            : std::max(layers * layer_time, last_layers * layer_time + head);
  Seconds hop = 0;
  if (plan.pipeline > 1) {
    const bool leaves_node = plan.tensor * plan.data * plan.context >= node_gpus_;
    hop = tokens * d.hidden * 2 / plan.tensor / (leaves_node ? network_ : link_) + kLatency;
  }
  const Seconds fill =
      (plan.pipeline - 1.0) / plan.interleave * stage + 2 * (plan.pipeline - 1) * hop;
  const Seconds hops = (1 - kHiddenPipeline) * 2 * hop * plan.interleave;

  const StageParameters parameters = ParametersOf(plan);
  const int replicas = plan.data * plan.context;
  const double shards = plan.zero >= 1 ? replicas : 1;
  const double expert_shards =
      plan.zero >= 1 ? std::max(1, replicas * plan.tensor / plan.expert) : 1;
  const Seconds optimizer = (parameters.dense / shards + parameters.expert / expert_shards) *
                            kOptimizerTraffic / bandwidth_;
  const Seconds step =
      micro_batches * (stage + hops) + fill +
      DataExchange(plan, layers * forward_pass, layers * backward_pass, micro_batches) + optimizer +
      kStepOverhead;
  return step * (1 + kScale * std::log2(std::max(1.0, plan.gpus() / 8.0)));
}

double PlanCost::UtilizationOf(const Plan& plan, Seconds step) const {
  return training_.TokensPerStep() * training_.decoder.FlopsPerToken(training_.sequence) /
         (step * plan.gpus() * gpu_.peak_tflops * kTera);
}

}  // namespace allot
