#pragma once
// Axes of figures (report/figure.h): their bounds, and the ticks that the renderer draws. Pure.

#include <string>
#include <utility>
#include <vector>

namespace allot {

enum class AxisUnit { kNumber, kSeconds, kShare };
enum class AxisScale { kLinear, kLog, kFromZero };  // kFromZero: 0 to 1 is as long as 1 to e

struct FigureAxis {
  std::string key{};    // column of the CSV: "jct_s"
  std::string label{};  // for people; "" where the caption says it
  double low = 0;
  double high = 1;
  AxisUnit unit = AxisUnit::kNumber;
  AxisScale scale = AxisScale::kLinear;
  std::vector<std::string> rows{};  // names of 0.5, 1.5, ... from the top: no numbers then
  std::vector<double> ticks{};      // where they must be; empty: where they are round
};

// Round places within [axis.low, axis.high], about `count` and at least two where possible, with
// their text: as many digits as tell them apart.
std::vector<std::pair<double, std::string>> AxisTicks(const FigureAxis& axis, int count);

// The span of the known values with a margin, as bounds of an axis; [0, 1] for none. `from_zero`:
// it begins at 0.
void FitAxis(FigureAxis* axis, const std::vector<double>& values, bool from_zero = false);

// A logarithmic axis, which its label then says, where the values differ by more than `factor` and
// are all positive.
void FitLogAxis(FigureAxis* axis, const std::vector<double>& values, double factor = 10);

}  // namespace allot
