#include "perf/configuration_key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

std::string WordOf(const UnitKind& kind) { return kind.name == "gpu" ? "gpus" : kind.name; }

std::size_t IndexOf(std::string_view what, std::string_view name,
                    const std::vector<std::string>& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw DataError("a configuration names one of the {} {}, got '{}' in '{}'", what,
                    fmt::join(names, ", "), name, text);
  }
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

std::string TextOf(const Span& span) {
  if (span.any()) return "any";
  if (span.most == Span::kAny) return fmt::format("{}+", span.least);
  if (span.least == span.most) return fmt::format("{}", span.least);
  return fmt::format("{}-{}", span.least, span.most);
}

Span ParseSpan(std::string_view text) {
  if (text == "any") return {};
  const auto number = [](std::string_view part) -> std::optional<Span::Count> {
    const auto value = ParseInteger(part);
    if (!value || *value < 1 || *value >= Span::kAny) return std::nullopt;
    return static_cast<Span::Count>(*value);
  };
  const std::size_t dash = text.find('-');
  const bool open = !text.empty() && text.back() == '+';
  const auto least = number(open ? text.substr(0, text.size() - 1) : text.substr(0, dash));
  const auto most = open                             ? std::optional(Span::kAny)
                    : dash == std::string_view::npos ? least
                                                     : number(text.substr(dash + 1));
  if (!least || !most || *most < *least) {
    throw DataError("numbers of nodes are '1', '2+', '2-4' or 'any', got '{}'", text);
  }
  return {*least, *most};
}

std::vector<UnitCounts> FewestNodes(GpuCount gpus, GpuCount node_gpus, const Span& span) {
  node_gpus = std::max(node_gpus, 1);
  const std::int64_t fewest = (std::int64_t{gpus} + node_gpus - 1) / node_gpus;
  const std::int64_t nodes = std::max<std::int64_t>(fewest, span.least);
  if (nodes > gpus || !span.Holds(static_cast<std::size_t>(nodes))) return {};
  std::vector<UnitCounts> shape;
  GpuCount left = gpus;
  for (auto others = static_cast<GpuCount>(nodes - 1); others >= 0; --others) {
    shape.emplace_back(std::min(node_gpus, left - others));
    left -= shape.back().of(0);
  }
  return shape;
}

std::string TextOf(const ConfigurationKey& key, const KeyNames& names) {
  std::string text;
  for (std::size_t kind = 0; kind < names.kinds.size(); ++kind) {
    text += fmt::format("{}={} ", WordOf(names.kinds[kind]), key.units().of(kind));
  }
  text += "type=" + names.gpu_types.at(static_cast<std::size_t>(key.gpu_type()));
  if (!key.span().any()) text += " nodes=" + TextOf(key.span());
  if (key.partner() != kNoPartner) {
    text += " partner=" + names.partners.at(static_cast<std::size_t>(key.partner()));
  }
  return text;
}

ConfigurationKey ParseKey(std::string_view text, const KeyNames& names) {
  UnitCounts units;
  std::optional<std::size_t> type;
  Span span;
  std::int16_t partner = kNoPartner;
  // The partner comes last and takes the rest: names of profiles may have spaces.
  constexpr std::string_view kPartner = " partner=";
  const std::size_t beside = text.find(kPartner);
  if (beside != std::string_view::npos) {
    partner = static_cast<std::int16_t>(
        IndexOf("partners", text.substr(beside + kPartner.size()), names.partners, text));
  }
  for (const std::string_view word : Split(text.substr(0, beside), ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
    if (name == "type") {
      type = IndexOf("GPU types", value, names.gpu_types, text);
    } else if (name == "nodes") {
      span = ParseSpan(value);
    } else {
      std::vector<std::string> words;
      for (const UnitKind& kind : names.kinds) words.push_back(WordOf(kind));
      const std::size_t kind = IndexOf("kinds of unit", name, words, text);
      const auto count = ParseInteger(value);
      if (!count || *count < 0 || *count > kMaxGpusPerJob) {
        throw DataError("'{}' must be a whole number from 0 to {}, got '{}' in '{}'", name,
                        kMaxGpusPerJob, value, text);
      }
      units.Set(kind, static_cast<int>(*count));
    }
  }
  if (!type || units.none()) {
    throw DataError("a configuration names its units and its GPU type, got '{}'", text);
  }
  return {units, static_cast<GpuTypeIndex>(*type), span, partner};
}

}  // namespace allot
