#include "clients/slurm/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "clients/slurm/value_text.h"
#include "core/gpu_parts.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::int64_t kMostCounted = 1'000'000;  // beyond it the text is surely broken

// "4", "2K"; nullopt where it is no whole number >= 0.
std::optional<std::int64_t> ParseCount(std::string_view text) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  std::int64_t factor = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'k')) factor = 1024;
  if (!text.empty() && (text.back() == 'M' || text.back() == 'm')) factor = 1024 * 1024;
  if (factor > 1) text.remove_suffix(1);
  const auto count = ParseInteger(text);
  if (!count || *count < 0) return std::nullopt;
  return std::min<std::int64_t>(*count, kMost) * factor;
}

GpuCount Saturated(std::int64_t count) {
  return static_cast<GpuCount>(std::min<std::int64_t>(count, std::numeric_limits<GpuCount>::max()));
}

void AddType(std::string_view name, std::int64_t count, SlurmGpus* gpus) {
  const bool part = NamesPartOfGpu(name);
  (part ? gpus->slices : gpus->count) += count;
  if (count == 0) return;
  const std::string lower = ToLower(name);
  for (SlurmGpuType& type : gpus->types) {
    if (ToLower(type.name) != lower) continue;
    type.count = Saturated(type.count + count);
    return;
  }
  gpus->types.push_back({std::string(name), Saturated(count), part});
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

// The value of "key=value" in a list; nullopt where the key is not there.
std::optional<std::string_view> TresValue(std::string_view text, std::string_view key) {
  for (std::string_view part : Split(text, ',')) {
    part = Trim(part);
    if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=') {
      return Trim(part.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

struct GresText {
  SlurmGpus gpus;          // of the items that are well formed
  bool malformed = false;  // some are not, or count too many
};

GresText ReadGres(std::string_view text) {
  GresText read;
  if (IsSlurmUnset(text)) return read;
  SlurmGpus& gpus = read.gpus;
  const auto count_of = [&](char c) { return std::count(text.begin(), text.end(), c); };
  gpus.cut = count_of('(') != count_of(')') || text.back() == ',';
  for (std::string_view part : SplitOutside(text)) {
    part = Trim(part.substr(0, part.find('(')));
    if (part.starts_with(kGresPrefix) || part.starts_with("gres/")) {
      part.remove_prefix(kGresPrefix.size());
    }
    if (part.starts_with("shard")) gpus.shards = true;
    if (part != "gpu" && !part.starts_with("gpu:") && !part.starts_with("gpu=")) continue;
    const std::string_view rest = part.size() > 4 ? part.substr(4) : std::string_view();
    const std::size_t colon = rest.find_last_of(":=");
    const bool typed = colon != std::string_view::npos;
    const std::string_view last = typed ? Trim(rest.substr(colon + 1)) : rest;
    const bool counted = !last.empty() && last.front() >= '0' && last.front() <= '9';
    if (const auto count = counted ? ParseCount(last) : std::nullopt) {
      read.malformed = read.malformed || *count > kMostCounted;
      AddType(typed ? rest.substr(0, colon) : "", *count, &gpus);
    } else if (typed || rest.starts_with('-')) {
      read.malformed = true;
    } else {
      AddType(rest, 1, &gpus);  // "gpu:a100" is one of them
      gpus.cut = gpus.cut || part.size() > 3;
    }
  }
  return read;
}

}  // namespace

std::optional<SlurmGpus> ParseTresGpus(std::string_view text) {
  constexpr std::string_view kGpu = "gres/gpu";
  SlurmGpus gpus;
  std::optional<std::int64_t> sum;
  for (const std::string_view part : Split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view key = Trim(part.substr(0, equals));
    const std::string lower = ToLower(key);
    if (lower.starts_with("gres/shard")) gpus.shards = true;
    if (lower != kGpu && !lower.starts_with("gres/gpu:")) continue;
    const auto count = ParseCount(equals == std::string_view::npos ? std::string_view()
                                                                   : Trim(part.substr(equals + 1)));
    if (!count || *count > kMostCounted) return std::nullopt;
    if (lower == kGpu) {
      sum = *count;
    } else {
      AddType(key.substr(kGpu.size() + 1), *count, &gpus);
    }
  }
  if (sum) gpus.count = std::max<std::int64_t>(*sum - gpus.slices, 0);
  const bool typed = std::any_of(gpus.types.begin(), gpus.types.end(),
                                 [](const SlurmGpuType& type) { return !type.part; });
  if (!typed && gpus.count > 0) {
    gpus.types.push_back({"", Saturated(gpus.count), false});
  }
  return gpus;
}

std::int64_t TresCpus(std::string_view text) {
  const auto value = TresValue(text, "cpu");
  return value ? ParseCount(*value).value_or(0) : 0;
}

std::uint64_t TresMemory(std::string_view text) {
  auto value = TresValue(text, "mem");
  if (!value || value->empty()) return 0;
  constexpr std::string_view kUnits = "KMGTP";  // without one: MiB
  const std::size_t unit = kUnits.find(value->back());
  if (unit != std::string_view::npos) value->remove_suffix(1);
  const double number = ParseNumber(*value).value_or(0);
  const double mib = unit == std::string_view::npos
                         ? number
                         : number * std::pow(1024.0, static_cast<double>(unit) - 1);
  return mib > 0 && mib < 1e15 ? static_cast<std::uint64_t>(mib) : 0;
}

std::optional<SlurmGpus> ParseGresGpus(std::string_view text) {
  GresText read = ReadGres(text);
  return read.malformed ? std::nullopt : std::optional(std::move(read.gpus));
}

std::vector<SlurmGpuType> GpuTypesOfGres(std::string_view text) {
  return ReadGres(text).gpus.types;
}

std::string GresRequest(GpuCount gpus, std::string_view type) {
  return fmt::format("gres:gpu:{}{}{}", type, type.empty() ? "" : ":", gpus);
}

std::optional<int> GpuLimitOf(std::uint64_t tres) {
  constexpr std::uint64_t kMostGpus = 1U << 30U;  // more is none, as is Slurm's INFINITE
  return tres > kMostGpus ? std::nullopt : std::optional(static_cast<int>(tres));
}

std::optional<int> GpuLimitIn(std::string_view tres) {
  const auto value = TresValue(tres, "gres/gpu");
  if (!value) return std::nullopt;
  const auto limit = ParseInteger(value->substr(0, value->find_first_not_of("0123456789")));
  return limit ? GpuLimitOf(static_cast<std::uint64_t>(*limit)) : std::nullopt;
}

}  // namespace allot
