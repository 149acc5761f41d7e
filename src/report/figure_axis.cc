#include "report/figure_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/types.h"

namespace allot {
namespace {

struct NamedUnit {
  double seconds;
  const char* name;
};
constexpr NamedUnit kTimeUnits[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
constexpr double kTimeSteps[] = {1,     2,     5,      10,     20,     30,      60,      120,
                                 300,   600,   1200,   1800,   3600,   7200,    10800,   21600,
                                 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000};

double NiceStep(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) return factor * power;
  }
  return 10 * power;
}

double TickStep(double span, int count, AxisUnit unit) {
  const double rough = span / std::max(count, 1);
  if (unit != AxisUnit::kSeconds || rough < 1) return NiceStep(rough);
  for (const double step : kTimeSteps) {
    if (span > 4 * 86400 && step < 86400) continue;  // "5 d", not "120 h"
    if (step >= rough * 0.8) return step;
  }
  return NiceStep(rough / 86400) * 86400;
}

// The largest unit that divides the value: "90 min", "2 d".
std::string RoundTime(double value, double step) {
  for (const NamedUnit& unit : kTimeUnits) {
    if (step >= unit.seconds && std::abs(std::remainder(step, unit.seconds)) < 1e-9) {
      return fmt::format("{:g} {}", value / unit.seconds, unit.name);
    }
  }
  return fmt::format("{:g} s", value);
}

// Decimals that a step needs: 0.25 two, 10 none.
int DecimalsOf(double step) {
  for (int digits = 0; digits < 12; ++digits) {
    const double scaled = step * std::pow(10, digits);
    if (std::abs(scaled - std::round(scaled)) < 1e-6 * scaled) return digits;
  }
  return 12;
}

std::string TickText(double value, double step, const FigureAxis& axis) {
  if (axis.unit == AxisUnit::kSeconds) return value == 0 ? "0" : RoundTime(value, step);
  if (axis.unit == AxisUnit::kShare)
    return fmt::format("{:.{}f} %", value * 100, DecimalsOf(step * 100));
  const double largest = std::max(std::abs(axis.low), std::abs(axis.high));
  if (largest < 1e-3 || largest >= 1e6) return value == 0 ? "0" : fmt::format("{:g}", value);
  return fmt::format("{:.{}f}", value, DecimalsOf(step));
}

std::vector<double> Multiples(double low, double high, double step) {
  std::vector<double> places;
  const double slack = (high - low) * 1e-9;
  const auto first = static_cast<std::int64_t>(std::ceil((low - slack) / step));
  const auto last = static_cast<std::int64_t>(std::floor((high + slack) / step));
  for (std::int64_t k = first; k <= last && k < first + 200; ++k) {
    places.push_back(static_cast<double>(k) * step);
  }
  return places;
}

// From few to many, the first of which fits: round values of a logarithmic axis.
std::vector<double> LogPlaces(const FigureAxis& axis, int count) {
  std::vector<std::vector<double>> choices;
  if (axis.unit == AxisUnit::kSeconds) {
    choices.push_back({0.01, 0.1, 1, 10, 60, 600, 3600, 14400, 86400, 345600, 1382400, 5529600});
    choices.push_back({0.1, 1, 10, 60, 600, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 432000,
                       864000, 1728000});
    choices.emplace_back(std::begin(kTimeSteps), std::end(kTimeSteps));
  } else {
    for (const std::vector<double>& factors :
         {std::vector<double>{1}, {1, 3}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 7}}) {
      std::vector<double>& places = choices.emplace_back();
      for (int power = -12; power < 12; ++power) {
        for (const double factor : factors) places.push_back(factor * std::pow(10, power));
      }
    }
  }
  std::vector<double> best;
  for (const std::vector<double>& places : choices) {
    std::vector<double> within;
    std::copy_if(places.begin(), places.end(), std::back_inserter(within),
                 [&axis](double v) { return v >= axis.low * 0.999 && v <= axis.high * 1.001; });
    if (static_cast<int>(within.size()) > count + 2 && best.size() >= 2) break;
    best = std::move(within);
    if (static_cast<int>(best.size()) >= std::max(count, 3)) break;
  }
  // Too narrow for them: as on a linear axis, but three at least, which tell the scale.
  if (best.size() >= 3 && static_cast<int>(best.size()) <= 2 * count) return best;
  for (int more = count; more <= 8 * count; more *= 2) {
    best = Multiples(axis.low, axis.high, TickStep(axis.high - axis.low, more, axis.unit));
    if (best.size() >= 3) break;
  }
  return best;
}

}  // namespace

std::vector<std::pair<double, std::string>> AxisTicks(const FigureAxis& axis, int count) {
  std::vector<std::pair<double, std::string>> ticks;
  std::vector<double> places = axis.ticks;
  if (!axis.rows.empty()) {
    for (std::size_t i = 0; i < axis.rows.size(); ++i) {
      ticks.emplace_back(static_cast<double>(i) + 0.5, axis.rows[i]);
    }
    return ticks;
  }
  double step = TickStep(axis.high - axis.low, count, axis.unit);
  if (places.empty() && axis.scale == AxisScale::kLog) {
    places = LogPlaces(axis, count);
  } else if (places.empty() && axis.scale == AxisScale::kFromZero) {
    for (const double place : {0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5}) {
      if (place >= axis.low && place <= axis.high) places.push_back(place);
    }
  } else if (places.empty()) {
    // Of a range such as 0.9931 to 0.9949 two ticks are the least that tells a scale.
    for (int more = count; places.size() < 2 && more < 8 * count; more *= 2) {
      step = TickStep(axis.high - axis.low, more, axis.unit);
      places = Multiples(axis.low, axis.high, step);
    }
  }
  const bool even = axis.ticks.empty() && axis.scale == AxisScale::kLinear;
  for (const double place : places) {
    ticks.emplace_back(place, TickText(place, even || place == 0 ? step : place, axis));
  }
  return ticks;
}

void FitAxis(FigureAxis* axis, const std::vector<double>& values, bool from_zero) {
  double low = kNever;
  double high = -kNever;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) {
    low = 0;
    high = 1;
  }
  if (from_zero) low = std::min(low, 0.0);
  const double size = high > low ? high - low : std::max(std::abs(high), 1e-12);
  axis->high = high + size * 0.06;
  axis->low = from_zero && low >= 0 ? 0 : low - size * 0.06;
  axis->scale = AxisScale::kLinear;
}

void FitLogAxis(FigureAxis* axis, const std::vector<double>& values, double factor) {
  double low = kNever;
  double high = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low > 0) || low == kNever || high / low < factor) {
    FitAxis(axis, values, true);
    return;
  }
  axis->low = low / 1.1;
  axis->high = high * 1.1;
  axis->scale = AxisScale::kLog;
  if (!axis->label.empty()) axis->label += ", log scale";
}

}  // namespace allot
