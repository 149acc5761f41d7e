#include "clients/slurm/value_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/calendar.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::size_t kMostHosts = 1 << 20;
constexpr std::int64_t kMostTasks = 4'000'001;  // of one array, as Slurm allows them

// What stands in brackets, "1-2,08-10", as its numbers with their zeros.
std::vector<std::string> Numbers(std::string_view ranges) {
  std::vector<std::string> numbers;
  for (const std::string_view range : Split(ranges, ',')) {
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const auto from = ParseInteger(first);
    const auto to = ParseInteger(last);
    if (!from || !to || *from < 0 || *to < *from ||
        static_cast<std::size_t>(*to - *from) >= kMostHosts) {
      throw DataError("slurm: a range of hosts must be two numbers that rise, got '{}'", range);
    }
    for (long long n = *from; n <= *to; ++n) {
      numbers.push_back(fmt::format("{:0{}}", n, first.size()));
    }
  }
  return numbers;
}

// One item of a list: "n[1-2]x[3]".
std::vector<std::string> ExpandItem(std::string_view item) {
  std::vector<std::string> hosts = {""};
  while (!item.empty()) {
    const std::size_t open = item.find('[');
    for (std::string& host : hosts) host += item.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = item.find(']', open);
    if (close == std::string_view::npos) {
      throw DataError("slurm: brackets in a list of hosts must be closed, got '{}'", item);
    }
    const std::vector<std::string> numbers = Numbers(item.substr(open + 1, close - open - 1));
    if (hosts.size() * numbers.size() > kMostHosts) {
      throw DataError("slurm: a list must name at most {} hosts, '{}' names more", kMostHosts,
                      item);
    }
    std::vector<std::string> longer;
    longer.reserve(hosts.size() * numbers.size());
    for (const std::string& host : hosts) {
      for (const std::string& number : numbers) longer.push_back(host + number);
    }
    hosts = std::move(longer);
    item.remove_prefix(close + 1);
  }
  return hosts;
}

}  // namespace

bool IsSlurmUnset(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {
      "", "unknown", "none", "n/a", "(null)", "null", "invalid", "not_set", "none assigned"};
  return std::find(kWords.begin(), kWords.end(), ToLower(Trim(text))) != kWords.end();
}

std::optional<std::int64_t> ParseSlurmTime(std::string_view text) {
  if (const auto seconds = ParseInteger(text)) {
    constexpr long long kEarliest = 600'000'000, kLatest = 5'000'000'000;  // 1989 and 2128
    if (*seconds < kEarliest || *seconds > kLatest) return std::nullopt;
    return *seconds;
  }
  std::string calendar(text);
  constexpr std::size_t kDate = 10;  // characters of "2026-11-01"
  if (calendar.size() > kDate && calendar[kDate] == 'T') calendar[kDate] = ' ';
  return ParseCalendar(calendar);
}

std::optional<Seconds> ParseSlurmSpan(std::string_view text) {
  double days = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto value = ParseInteger(text.substr(0, dash));
    if (!value || *value < 0 || *value > 1'000'000) return std::nullopt;
    days = static_cast<double>(*value);
    text.remove_prefix(dash + 1);
  }
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || (days > 0 && parts.size() < 3)) return std::nullopt;
  double seconds = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const auto value = ParseNumber(parts[i]);
    // Hours alone may be many; a sign or an exponent is no time.
    if (!value ||
        parts[i].find_first_not_of(last ? "0123456789." : "0123456789") != std::string_view::npos) {
      return std::nullopt;
    }
    if (i > 0 && *value >= 60) return std::nullopt;
    seconds = 60 * seconds + *value;
  }
  return days * 86400 + seconds;
}

std::optional<std::vector<std::int64_t>> ParseArrayTasks(std::string_view text,
                                                         std::optional<std::size_t> at_most) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  text = text.substr(0, text.find('%'));
  std::vector<std::int64_t> tasks;
  for (std::string_view part : Split(text, ',')) {
    if (part == "...") continue;
    const std::size_t colon = part.find(':');
    const std::size_t dash = part.find('-');
    const auto step = colon == std::string_view::npos ? 1 : ParseInteger(part.substr(colon + 1));
    part = part.substr(0, colon);
    const auto first = ParseInteger(part.substr(0, dash));
    const auto last = dash == std::string_view::npos
                          ? first
                          : ParseInteger(part.substr(std::min(dash + 1, part.size())));
    if (!first || !last || !step || *first < 0 || *last < *first || *last > kMostTasks ||
        *step < 1 || *step > kMostTasks) {
      return std::nullopt;
    }
    for (std::int64_t task = *first; task <= *last; task += *step) {
      if (at_most && tasks.size() == *at_most) return tasks;
      if (tasks.size() == static_cast<std::size_t>(kMostTasks)) return std::nullopt;
      tasks.push_back(task);
    }
  }
  return tasks.empty() ? std::nullopt : std::optional(std::move(tasks));
}

std::vector<std::string> ExpandHosts(std::string_view list) {
  std::vector<std::string> hosts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    for (std::string& host : ExpandItem(list.substr(begin, i - begin))) {
      if (!host.empty()) hosts.push_back(std::move(host));
    }
    begin = i + 1;
  }
  return hosts;
}

}  // namespace allot
