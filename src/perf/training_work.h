#pragma once
// How much work a model does in a time, where its rate changes as it trains.

#include "perf/throughput_model.h"

namespace allot {

// In the first `seconds` of training on this shape; seconds x rate of a model that does not vary.
// O(changes of the rate).
double WorkIn(const ThroughputModel& model, const RunShape& shape, Seconds seconds);

}  // namespace allot
