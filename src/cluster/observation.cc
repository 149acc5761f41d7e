#include "cluster/observation.h"

#include <algorithm>
#include <cmath>

namespace allot {

double EstimatedRemaining(double estimated_work, double done_work) {
  if (std::isnan(estimated_work)) return kUnknown;
  const double left = estimated_work - done_work;
  return left > 0 ? left : 0.1 * std::max(estimated_work, done_work);
}

}  // namespace allot
