#pragma once
// Prices of GPUs for a multiple-choice problem (solve/multiple_choice.h): the dual of its
// Lagrangian relaxation,
//   D(p) = sum over jobs of max(0, max over options of gain - p gpus) + p capacity,  p >= 0,
// which no solution exceeds.

#include <vector>

#include "solve/multiple_choice.h"

namespace allot {

struct ChoicePrices {
  std::vector<double> price;  // by type
  double bound = 0;           // D(price)
};

// Nearly the least D. O(options) an evaluation, 50 to 100 of them.
ChoicePrices FindChoicePrices(const MultipleChoiceProblem& problem);

}  // namespace allot
