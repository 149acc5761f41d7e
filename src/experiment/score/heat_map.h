#pragma once
// Ratios as a shaded table in SVG: blue below 1, vermilion above, white at 1. The same input gives
// the same bytes.

#include <string>
#include <vector>

namespace allot {

struct HeatMap {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<double> ratios;  // row by row; each positive
};

std::string HeatMapSvg(const HeatMap& map);

}  // namespace allot
