#include "clients/kubernetes/kube_time.h"

#include <algorithm>

#include "core/calendar.h"
#include "core/strings.h"

namespace allot {

std::optional<Seconds> ParseKubernetesTime(std::string_view text) {
  constexpr std::size_t kLocalTime = 19;  // characters of "2026-11-22T12:38:49"
  if (text.size() <= kLocalTime || text[10] != 'T') return std::nullopt;
  std::string local(text.substr(0, kLocalTime));
  local[10] = ' ';
  const auto seconds = ParseCalendar(local);
  if (!seconds) return std::nullopt;
  std::string_view rest = text.substr(kLocalTime);
  double fraction = 0;
  if (rest.front() == '.') {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    const auto value = ParseNumber("0" + std::string(rest.substr(0, end)));
    if (!value) return std::nullopt;
    fraction = *value;
    rest.remove_prefix(end);
  }
  if (rest == "Z" || rest == "z") return static_cast<double>(*seconds) + fraction;
  const auto zoned = ParseZonedCalendar(local + std::string(rest));
  if (!zoned) return std::nullopt;
  return static_cast<double>(zoned->local - zoned->zone) + fraction;
}

std::string KubeTimeText(std::int64_t seconds) {
  std::string text = FormatCalendar(seconds);
  text[text.find(' ')] = 'T';
  return text + "Z";
}

}  // namespace allot
