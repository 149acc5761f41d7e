#pragma once
// The index network among the agents: which numbers it reads and writes, and where in its
// parameters the heuristics lie. Shared by serving and training.

#include "features/encoder.h"
#include "features/index_action.h"
#include "models/index_net.h"

namespace allot {

// Features of src/features in, (u, beta, kappa) out.
IndexNetShape IndexAgentShape(int hidden = 16);

// A point of the alpha-fair family, as the policy 'index' has it: u = -alpha ln(remaining time in
// the smallest configuration, or with `forecast` of the length model's rank) + (1 - gamma)
// ln(requested cost) + rank ln(share of jobs for which that time is at least as long).
struct IndexPoint {
  float alpha = 0;
  float beta = 0;
  float kappa = 0;
  float gamma = 1;
  float rank = 0;
  bool forecast = false;
};

// Random hidden layer with zero output weights, skip weights at the point: acts exactly as the
// heuristic.
IndexNetWeights IndexAgentAt(const IndexPoint& point, int hidden, std::uint64_t seed);

}  // namespace allot
