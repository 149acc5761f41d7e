#include "metrics/humanise.h"

#include <fmt/format.h>

#include <cmath>

namespace allot {

std::string HumanDuration(Seconds seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return "-" + HumanDuration(-seconds);
  // Each unit is chosen after rounding, so that 59.97 s is a minute and not "60.0 s".
  if (std::round(seconds * 10) < 600) return fmt::format("{:.1f} s", seconds);
  const auto whole_seconds = static_cast<long long>(std::llround(seconds));
  if (whole_seconds < 3600)
    return fmt::format("{}m {:02}s", whole_seconds / 60, whole_seconds % 60);
  const auto minutes = static_cast<long long>(std::llround(seconds / 60));
  if (minutes < 24 * 60) return fmt::format("{}h {:02}m", minutes / 60, minutes % 60);
  const auto hours = static_cast<long long>(std::llround(seconds / 3600));
  return fmt::format("{}d {:02}h", hours / 24, hours % 24);
}

std::string HumanMicroseconds(double us) {
  if (!std::isfinite(us)) return "-";
  if (us < 99.95) return fmt::format("{:.1f} µs", us);
  if (us < 999.5) return fmt::format("{:.0f} µs", us);
  if (us < 999995) return fmt::format("{:.2f} ms", us / 1e3);
  return fmt::format("{:.2f} s", us / 1e6);
}

std::string HumanFixed(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

std::string HumanHours(double hours) {
  if (!std::isfinite(hours)) return "-";
  const double size = std::abs(hours);
  if (size >= 99.95) return HumanCount(std::llround(hours));
  if (size > 0 && size < 0.095) return fmt::format("{:.1g}", hours);
  return fmt::format("{:.1f}", hours);
}

std::string HumanShare(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", share * 100) : "-";
}

std::string HumanRatio(const PairedRatio& ratio) {
  if (!std::isfinite(ratio.mean)) return "-";
  if (!ratio.has_interval()) return fmt::format("{:.3f}", ratio.mean);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.mean, ratio.low, ratio.high);
}

std::string HumanCount(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::ptrdiff_t first = count < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ' ');
  }
  return digits;
}

std::string Enumerate(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace allot
