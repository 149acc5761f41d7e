#pragma once
// What Prometheus' own client libraries tell of a process, under their names.

#include "core/metric_text.h"

namespace allot {

void AddProcessMetrics(MetricText* text);

}  // namespace allot
