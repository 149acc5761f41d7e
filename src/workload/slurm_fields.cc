#include "workload/slurm_fields.h"

#include <algorithm>
#include <array>

#include "core/strings.h"
#include "workload/calendar.h"
#include "workload/gpu_parts.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

std::optional<std::int64_t> ParseCount(std::string_view text) {
  std::int64_t factor = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'k')) factor = 1024;
  if (!text.empty() && (text.back() == 'M' || text.back() == 'm')) factor = 1024 * 1024;
  if (factor > 1) text.remove_suffix(1);
  const auto count = ParseInteger(text);
  if (!count || *count < 0 || *count > kMostGpus) return std::nullopt;
  return *count * factor;
}

void AddType(std::string_view name, std::int64_t count, SlurmGpus* gpus) {
  if (NamesPartOfGpu(name)) {
    gpus->slices += count;
    return;
  }
  gpus->count += count;
  if (count == 0) return;
  const std::string lower = ToLower(name);
  for (SlurmGpus::Type& type : gpus->types) {
    if (type.name != lower) continue;
    type.count += count;
    return;
  }
  gpus->types.push_back({lower, count});
}

// Commas inside of parentheses and brackets separate nothing: "gpu:a100:4(S:0,2)".
std::vector<std::string_view> SplitOutside(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    parts.push_back(Trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
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

std::optional<std::vector<std::int64_t>> ParseArrayTasks(std::string_view text) {
  constexpr std::int64_t kMostTasks = 4'000'001;
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
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
    if (!first || !last || !step || *first < 0 || *last < *first || *step < 1 ||
        (*last - *first) / *step + static_cast<std::int64_t>(tasks.size()) >= kMostTasks) {
      return std::nullopt;
    }
    for (std::int64_t task = *first; task <= *last; task += *step) tasks.push_back(task);
  }
  return tasks.empty() ? std::nullopt : std::optional(std::move(tasks));
}

std::optional<SlurmGpus> ParseTresGpus(std::string_view text) {
  constexpr std::string_view kGpu = "gres/gpu";
  SlurmGpus gpus;
  std::optional<std::int64_t> sum;
  for (const std::string_view part : Split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string key = ToLower(Trim(part.substr(0, equals)));
    if (key.starts_with("gres/shard")) gpus.shards = true;
    if (key != kGpu && !key.starts_with("gres/gpu:")) continue;
    const auto count = ParseCount(equals == std::string_view::npos ? std::string_view()
                                                                   : Trim(part.substr(equals + 1)));
    if (!count) return std::nullopt;
    if (key == kGpu) {
      sum = *count;
    } else {
      AddType(key.substr(kGpu.size() + 1), *count, &gpus);
    }
  }
  if (sum) gpus.count = std::max<std::int64_t>(*sum - gpus.slices, 0);
  if (gpus.types.empty() && gpus.count > 0) gpus.types.push_back({"", gpus.count});
  return gpus;
}

std::int64_t TresCpus(std::string_view text) {
  constexpr std::string_view kCpu = "cpu=";
  for (const std::string_view part : Split(text, ',')) {
    const std::string_view trimmed = Trim(part);
    if (trimmed.starts_with(kCpu)) return ParseCount(trimmed.substr(kCpu.size())).value_or(0);
  }
  return 0;
}

std::optional<SlurmGpus> ParseGresGpus(std::string_view text) {
  SlurmGpus gpus;
  if (IsSlurmUnset(text)) return gpus;
  const auto count_of = [&](char c) { return std::count(text.begin(), text.end(), c); };
  gpus.cut = count_of('(') != count_of(')') || text.back() == ',';
  for (std::string_view part : SplitOutside(text)) {
    part = Trim(part.substr(0, part.find('(')));
    // "gres:gpu:a100:4" or "gres/gpu:a100:4" of some versions
    if (part.starts_with("gres:") || part.starts_with("gres/")) part.remove_prefix(5);
    if (part.starts_with("shard")) gpus.shards = true;
    if (part != "gpu" && !part.starts_with("gpu:") && !part.starts_with("gpu=")) continue;
    std::string_view rest = part.size() > 4 ? part.substr(4) : std::string_view();
    std::int64_t count = 1;
    const std::size_t colon = rest.find_last_of(":=");
    const std::string_view last =
        colon == std::string_view::npos ? rest : Trim(rest.substr(colon + 1));
    std::string_view type = colon == std::string_view::npos ? "" : rest.substr(0, colon);
    if (!last.empty() && last.front() >= '0' && last.front() <= '9' && ParseCount(last)) {
      count = *ParseCount(last);
    } else if (colon == std::string_view::npos) {
      type = rest;  // "gpu:a100" is one of them
      gpus.cut = gpus.cut || part.size() > 3;
    } else {
      return std::nullopt;
    }
    AddType(type, count, &gpus);
  }
  return gpus;
}

}  // namespace allot
