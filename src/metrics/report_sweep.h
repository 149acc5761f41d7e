#pragma once
// A sweep in the report: its table, and its figures drawn against its first numeric factor, one
// curve for every combination of the others.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "metrics/sweep_results.h"

namespace allot {

// HTML; `index` is the sweep's place among those of the page.
std::string SweepSection(const SweepResults& results, std::size_t index);

// What charts.js draws; without curves when no factor is numeric.
nlohmann::ordered_json SweepChartData(const SweepResults& results);

}  // namespace allot
