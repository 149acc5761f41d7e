#include "agents/learned/index_agent.h"

namespace allot {

IndexNetShape IndexAgentShape(int hidden) {
  return {.job_features = kJobFeatures,
          .context_features = kContextFeatures,
          .hidden = hidden,
          .outputs = kIndexOutputs};
}

IndexNetWeights IndexAgentAt(const IndexPoint& point, int hidden, std::uint64_t seed) {
  IndexNetWeights weights = InitIndexNet(IndexAgentShape(hidden), seed);
  weights[index_net::kOutJob].data[0] = -point.alpha;  // output u, feature 0
  weights[index_net::kOutBias].data[1] = point.beta;
  weights[index_net::kOutBias].data[2] = point.kappa;
  return weights;
}

}  // namespace allot
