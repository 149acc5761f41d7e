#pragma once
// The shape of a decoder-only transformer and what follows from it: parameters and floating-point
// operations. Read from a catalogue by perf/transformer_model.cc; used by PlanCost. A value.

#include <optional>

namespace allot {

struct Decoder {
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int kv_heads = 0;  // groups of keys and values; as many as heads: multi-head attention
  int head_size = 0;
  int ffn = 0;        // inner size of a dense layer's feed-forward network
  bool gated = true;  // three matrices (SwiGLU) instead of two
  int vocabulary = 0;
  bool tied = false;  // the embedding is also the output layer

  // A mixture of experts in all layers but the first `dense_layers`; 0 experts: a dense model.
  int experts = 0;
  int top_k = 0;  // experts of a token
  int expert_ffn = 0;
  int shared_ffn = 0;  // inner size of the expert that every token passes
  int dense_layers = 0;

  // Parameters of a layer's attention where it is not of the usual form (multi-head latent
  // attention).
  std::optional<double> attention_parameters{};

  bool mixture() const { return experts > 0; }
  double AttentionParameters() const;  // of a layer, as the next three
  double DenseParameters() const;
  double ExpertParameters() const;  // one expert
  double SharedParameters() const;  // the shared expert and the router
  double EmbeddingParameters() const { return 1.0 * vocabulary * hidden; }
  int MixtureLayers() const { return mixture() ? layers - dense_layers : 0; }
  double MixtureShare() const { return 1.0 * MixtureLayers() / layers; }  // of the layers
  double Parameters() const;
  double ActiveParameters() const;  // that take part in the work for one token
  // Of forward and backward pass without recomputation, causal attention counted once: 6 for each
  // active parameter and 6 x layers x heads x head_size x sequence (Megatron-LM, arXiv 2104.04473).
  double FlopsPerToken(int sequence) const;
};

}  // namespace allot
