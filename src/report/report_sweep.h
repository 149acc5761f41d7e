#pragma once
// A sweep in the report: its opening and table, and the curves of its figures against its first
// numeric factor, one for every combination of the others.

#include <string>
#include <utility>
#include <vector>

#include "metrics/sweep_results.h"
#include "metrics/sweep_table.h"

namespace allot {

struct SweepCurve {
  std::string name;
  int colour = 0;
  int dash = 0;
  std::vector<std::pair<double, const SweepRow*>> points{};  // by value of the factor, ascending
  const SweepRow* distribution = nullptr;                    // whose quantiles are drawn
};
struct SweepCurves {
  std::string along;           // the factor; "": none is numeric
  std::string distributed_at;  // its value of the distributions
  std::vector<SweepCurve> curves;
};

// `rows` of the results (sweep_table.h), which must outlive the answer.
SweepCurves CurvesOf(const SweepResults& results, const std::vector<SweepRow>& rows);

// HTML: heading, notes and table; `index` is the sweep's place among those of the page. The section
// stays open for its figures.
std::string SweepOpening(const SweepResults& results, std::size_t index);

}  // namespace allot
