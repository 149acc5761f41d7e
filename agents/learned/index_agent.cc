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
  std::vector<float>& u = weights[index_net::kOutJob].data;  // of the first output: by feature
  u[static_cast<std::size_t>(point.forecast ? kForecastRank : kRemainingSmallest)] = -point.alpha;
  u[static_cast<std::size_t>(point.forecast ? kHesrptForecastWeight : kHesrptWeight)] = point.rank;
  u[kSmallestCost] = u[kRequestedCost] = 1 - point.gamma;  // their sum is ln requested cost
  weights[index_net::kOutBias].data[1] = point.beta;
  weights[index_net::kOutBias].data[2] = point.kappa;
  return weights;
}

}  // namespace allot
