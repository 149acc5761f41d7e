#pragma once
// The process metrics of Prometheus' client libraries, under their names.

#include "core/metric_text.h"

namespace allot {

void AddProcessMetrics(MetricText* text);

}  // namespace allot
