#include "length_model/remaining.h"

#include <algorithm>
#include <cmath>

namespace allot {

double AssumedRemaining(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  const double estimated = EstimatedRemaining(o.estimated_work[r], o.done_work[r]);
  if (!std::isnan(estimated)) return estimated;
  return std::max(o.done_work[r], o.table[r]->reference_rate() * o.interval);
}

}  // namespace allot
