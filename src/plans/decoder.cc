#include "plans/decoder.h"

namespace allot {

double Decoder::AttentionParameters() const {
  if (attention_parameters) return *attention_parameters;
  return 1.0 * hidden * head_size * (2.0 * heads + 2.0 * kv_heads);
}

double Decoder::DenseParameters() const { return (gated ? 3.0 : 2.0) * hidden * ffn; }

double Decoder::ExpertParameters() const { return 3.0 * hidden * expert_ffn; }

double Decoder::SharedParameters() const {
  return 3.0 * hidden * shared_ffn + 1.0 * hidden * experts;
}

double Decoder::Parameters() const {
  return layers * AttentionParameters() + (layers - MixtureLayers()) * DenseParameters() +
         MixtureLayers() * (experts * ExpertParameters() + SharedParameters()) +
         EmbeddingParameters() * (tied ? 1 : 2);
}

double Decoder::ActiveParameters() const {
  return layers * AttentionParameters() + (layers - MixtureLayers()) * DenseParameters() +
         MixtureLayers() * (top_k * ExpertParameters() + SharedParameters()) +
         EmbeddingParameters();
}

double Decoder::FlopsPerToken(int sequence) const {
  return 6 * ActiveParameters() + 6.0 * layers * heads * head_size * sequence;
}

}  // namespace allot
