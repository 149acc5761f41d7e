#pragma once
// Published speeds of language-model training against what the cost model of plans says of them
// (plans/plan_cost.h). `allot reproduce plans` prints the errors.
//
// The model's constants and the time factors below were fitted to the points of kFittedPoints;
// all others are held out. The points themselves are not part of allot: some sources state no
// licence.

#include <string>
#include <vector>

#include "plans/plan_search.h"

namespace allot {

struct PlanPoint {
  std::string id;
  std::string software;
  PlanProblem problem;
  Plan plan;
  double tokens_per_gpu = 0;  // tokens/s of one GPU, as published
  bool fitted = false;
};

struct PlanPointResult {
  PlanPoint point;
  double predicted = 0;  // tokens/s of one GPU
  double error = 0;      // relative: (predicted - published) / published
  double memory = 0;     // bytes
  bool fits = false;
};

// Rows of a file like points.csv (docs/plans.md): software, model, GPUs and plan, and the
// published speed. Models are profiles of the catalogue 'transformers'. DataError naming file, line
// and value.
std::vector<PlanPoint> ReadPlanPoints(const std::string& path);
PlanPointResult Predict(const PlanPoint& point);

// The errors of some points, as shares.
struct PlanErrors {
  std::string group;
  std::size_t points = 0;
  double bias = 0;  // mean
  double median = 0;
  double p80 = 0;
  double p90 = 0;
  double largest = 0;
  double within_10 = 0;
  double within_20 = 0;
};
PlanErrors ErrorsOf(std::string group, const std::vector<PlanPointResult>& results);

}  // namespace allot
