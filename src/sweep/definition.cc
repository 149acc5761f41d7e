#include "sweep/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/labelled_spec.h"
#include "core/strings.h"
#include "metrics/json_field.h"
#include "metrics/sweep_results.h"
#include "sim/profile.h"
#include "sweep/limits.h"

namespace allot {
namespace {

constexpr std::size_t kMostCells = 1'000'000;
constexpr std::uint64_t kLongestRange = 100'000;

// Keys of a definition that hold a factor's values, and the factor; first the slowest.
constexpr std::pair<const char*, const char*> kFactorKeys[] = {
    {"clusters", "cluster"}, {"loads", "load"},          {"rates", "rate"},
    {"seeds", "seed"},       {"admission", "admission"}, {"placement", "placement"},
    {"policies", "policy"},
};
constexpr const char* kWindowKeys[] = {"window-jobs", "window-time", "warm-up"};

bool OfPolicySpec(std::string_view factor) {
  return factor == kPolicyFactor || factor == "admission" || factor == "placement";
}

std::string KeyOf(const std::string& factor) {
  for (const auto& [key, name] : kFactorKeys) {
    if (name == factor) return key;
  }
  return "";
}

std::string Scalar(const Json& value, std::string_view key, std::string_view where) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return value.dump();  // of either sign, up to 64 bits
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  throw UsageError("{}: '{}' must be a text, a number or true/false, got {}", where, key,
                   value.dump());
}

// One spelling for one number, so that "1.0" is 1; other texts as they are. Whole numbers keep
// their digits, of which a double holds fifteen.
std::string Spelled(const std::string& text) {
  if (const auto whole = ParseInteger(text)) return std::to_string(*whole);
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  const auto number = digits ? std::nullopt : ParseNumber(text);
  return number ? fmt::format("{}", *number) : text;
}

// "0.4..8/0.4": from the first to the second in steps of the third; nullopt for other texts.
std::optional<std::vector<std::string>> Steps(const std::string& text, const std::string& key,
                                              std::string_view where) {
  const std::size_t dots = text.find("..");
  const std::size_t slash = text.find('/');
  if (dots == std::string::npos || slash == std::string::npos || slash < dots) return std::nullopt;
  const auto low = ParseNumber(text.substr(0, dots));
  const auto high = ParseNumber(text.substr(dots + 2, slash - dots - 2));
  const auto step = ParseNumber(text.substr(slash + 1));
  if (!low || !high || !step) return std::nullopt;
  const double more = std::floor((*high - *low) / *step + 1e-9);
  if (!(*step > 0) || !(more >= 0) || more >= static_cast<double>(kLongestRange)) {
    throw UsageError("{}: a range of '{}' must be LOW..HIGH/STEP of 1 to {} values, got '{}'",
                     where, key, kLongestRange, text);
  }
  std::vector<std::string> values;
  for (int k = 0; k <= static_cast<int>(more); ++k) {
    values.push_back(fmt::format("{:.12g}", *low + k * *step));
  }
  return values;
}

bool IsSeed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  return error == std::errc() && end == text.data() + text.size();
}

// Values of factors that are numbers, as the command line writes them.
void CheckNumbers(const std::vector<std::string>& values, std::string_view key,
                  std::string_view where) {
  const bool whole = key == "seeds";
  if (!whole && key != "loads" && key != "rates") return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (whole ? IsSeed(values[i]) : ParseNumber(values[i]).has_value()) continue;
    throw UsageError("{}: '{}' must be {}, got '{}', value {} of {}", where, key,
                     whole ? "whole numbers from 0 to 18446744073709551615" : "numbers", values[i],
                     i + 1, values.size());
  }
}

// Values of a factor: a list or a single one; "0..9" is a range of whole numbers, "1..2/0.1" one of
// steps.
std::vector<std::string> Values(const Json& json, const std::string& key, std::string_view where) {
  std::vector<std::string> values;
  const Json items = json.is_array() ? json : Json::array({json});
  for (const Json& item : items) {
    const std::string text = Scalar(item, key, where);
    if (const auto steps = Steps(text, key, where)) {
      values.insert(values.end(), steps->begin(), steps->end());
      continue;
    }
    const std::size_t dots = text.find("..");
    const auto low = ParseInteger(text.substr(0, dots));
    const auto high = dots == std::string::npos ? low : ParseInteger(text.substr(dots + 2));
    if (dots == std::string::npos || !low || !high) {
      values.push_back(Spelled(text));
      continue;
    }
    // The difference may be more than a signed number holds.
    const std::uint64_t more = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    if (*high < *low) {
      throw UsageError(
          "{}: a range of '{}' must be LOW..HIGH, LOW at most HIGH, got {} and {} ('{}')", where,
          key, *low, *high, text);
    }
    if (more >= kLongestRange) {
      throw UsageError("{}: a range of '{}' must be LOW..HIGH of at most {} values, got '{}'",
                       where, key, kLongestRange, text);
    }
    for (std::uint64_t k = 0; k <= more; ++k) {
      values.push_back(std::to_string(*low + static_cast<long long>(k)));
    }
  }
  if (values.empty()) throw UsageError("{}: '{}' needs at least 1 value, got none", where, key);
  CheckNumbers(values, key, where);
  std::set<std::string> seen;
  for (const std::string& value : values) {
    if (!seen.insert(value).second) {
      throw UsageError("{}: a value of '{}' must be given once, got '{}' twice", where, key, value);
    }
  }
  return values;
}

const SweepFactor* Find(const std::vector<SweepFactor>& factors, std::string_view name) {
  for (const SweepFactor& factor : factors) {
    if (factor.name == name) return &factor;
  }
  return nullptr;
}

bool Holds(const SweepFactor& factor, const std::string& value) {
  return std::find(factor.values.begin(), factor.values.end(), value) != factor.values.end();
}

[[noreturn]] void ThrowNoSuchValue(const SweepFactor& factor, const std::string& value,
                                   std::string_view what, std::string_view where) {
  throw UsageError("{}: {} must be one of the values of '{}' ({}), got '{}'", where, what,
                   factor.name, Join(factor.values, ", "), value);
}

// "fifo" or "admission=accept-all".
void AddReference(const std::string& text, std::string_view where, SweepDefinition* definition) {
  std::string name(kPolicyFactor);
  std::string value = text;
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    if (Find(definition->factors, text.substr(0, equals)) != nullptr) {
      name = text.substr(0, equals);
      value = Spelled(text.substr(equals + 1));
    }
  }
  const SweepFactor& factor = *Find(definition->factors, name);
  if (!Holds(factor, value)) ThrowNoSuchValue(factor, value, "the reference", where);
  if (name == kSeedFactor) throw UsageError("{}: the reference cannot be a seed", where);
  definition->reference[name] = value;
}

SweepException ExceptionOf(const Json& json, const SweepDefinition& definition,
                           const WorldOptions& world, std::string_view where) {
  if (!json.is_object()) {
    throw UsageError("{}: 'where' must be a list of tables, got {}", where, json.dump());
  }
  SweepException exception;
  for (const auto& [key, item] : json.items()) {
    const std::string text = Scalar(item, key, where);
    if (const SweepFactor* factor = Find(definition.factors, key)) {
      const std::string value = Spelled(text);
      // A preset's exceptions stay when the command line leaves out some of its values.
      exception.when[factor->name] = value;
      continue;
    }
    if (std::find(world.begin(), world.end(), key) == world.end()) {
      throw UsageError("{}: 'where' holds '{}', which is neither a factor nor an option{}", where,
                       key, DidYouMean(key, world));
    }
    exception.options[key] = text;
  }
  if (exception.when.empty() || exception.options.empty()) {
    throw UsageError("{}: 'where' needs a factor's value and an option, got {}", where,
                     json.dump());
  }
  return exception;
}

}  // namespace

SweepDefinition SweepFromJson(const nlohmann::ordered_json& json, const WorldOptions& world,
                              std::string_view where) {
  if (!json.is_object())
    throw UsageError("{}: a sweep must be a table, got {}", where, json.dump());
  const auto is_world = [&world](const std::string& name) {
    return std::find(world.begin(), world.end(), name) != world.end();
  };
  std::vector<std::string> known = world;
  for (const char* key : {"title", "vary", "where", "reference"}) known.emplace_back(key);
  for (const char* key : kWindowKeys) known.emplace_back(key);
  for (const char* key : kLimitKeys) known.emplace_back(key);
  for (const auto& [key, name] : kFactorKeys) known.emplace_back(key);

  SweepDefinition definition;
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw UsageError("{}: unknown key '{}'{}", where, key, DidYouMean(key, known));
    }
    if (is_world(key)) definition.world[key] = Scalar(value, key, where);
  }
  definition.title = json.contains("title") ? Scalar(json["title"], "title", where) : "";
  for (const char* key : kWindowKeys) {
    if (json.contains(key)) definition.window[key] = Scalar(json[key], key, where);
  }
  if (definition.window.size() > 1) {
    throw UsageError("{}: a sweep measures in one window, got '{}' and '{}'", where,
                     definition.window.begin()->first, definition.window.rbegin()->first);
  }
  for (const char* key : kLimitKeys) {
    if (json.contains(key)) definition.limits[key] = Scalar(json[key], key, where);
  }
  const Json vary = json.contains("vary") ? json["vary"] : Json::object();
  if (!vary.is_object()) {
    throw UsageError("{}: 'vary' must be a table, got {}", where, vary.dump());
  }
  for (const auto& [name, values] : vary.items()) {
    if (!is_world(name)) {
      throw UsageError("{}: unknown option '{}' to vary{}", where, name, DidYouMean(name, world));
    }
    if (definition.world.contains(name)) {
      throw UsageError("{}: '{}' is given as {} and varies over {}", where, name,
                       definition.world[name], values.dump());
    }
    definition.factors.push_back({name, Values(values, name, where)});
  }
  std::size_t cells = 1;
  for (const auto& [key, name] : kFactorKeys) {
    if (json.contains(key)) {
      definition.factors.push_back({name, Values(json[key], key, where)});
    } else if (name == kSeedFactor) {
      definition.factors.push_back({name, {"0"}});
    } else if (name == kPolicyFactor) {
      definition.factors.push_back(
          {name, {std::begin(kComparedPolicies), std::end(kComparedPolicies)}});
    }
  }
  for (const SweepFactor& factor : definition.factors) {
    cells *= factor.values.size();
    if (cells > kMostCells) {
      throw UsageError("{}: a sweep has at most {} cells, got more", where, kMostCells);
    }
  }
  const Json exceptions = json.contains("where") ? json["where"] : Json::array();
  for (const Json& item : exceptions) {
    definition.where.push_back(ExceptionOf(item, definition, world, where));
  }
  if (json.contains("reference")) {
    const Json& given = json["reference"];
    const Json references = given.is_array() ? given : Json::array({given});
    for (const Json& item : references) {
      AddReference(Scalar(item, "reference", where), where, &definition);
    }
  } else {
    definition.reference[std::string(kPolicyFactor)] =
        Find(definition.factors, kPolicyFactor)->values.front();
  }
  CheckLimits(definition, where);
  return definition;
}

nlohmann::ordered_json ToJson(const SweepDefinition& definition) {
  Json json = Json::object();
  json["title"] = definition.title;
  for (const auto& [name, value] : definition.world) json[name] = value;
  Json vary = Json::object();
  for (const SweepFactor& factor : definition.factors) {
    const std::string key = KeyOf(factor.name);
    (key.empty() ? vary[factor.name] : json[key]) = factor.values;
  }
  if (!vary.empty()) json["vary"] = vary;
  for (const auto& [name, value] : definition.window) json[name] = value;
  for (const auto& [name, value] : definition.limits) json[name] = value;
  Json where = Json::array();
  for (const SweepException& exception : definition.where) {
    Json item = Json::object();
    for (const auto& [name, value] : exception.when) item[name] = value;
    for (const auto& [name, value] : exception.options) item[name] = value;
    where.push_back(std::move(item));
  }
  if (!where.empty()) json["where"] = where;
  Json reference = Json::array();
  for (const auto& [name, value] : definition.reference) {
    reference.push_back(fmt::format("{}={}", name, value));
  }
  json["reference"] = reference;
  return json;
}

nlohmann::ordered_json Overlaid(nlohmann::ordered_json below, const nlohmann::ordered_json& above) {
  for (const auto& [key, value] : above.items()) {
    if (key == "vary") {
      for (const auto& [name, values] : value.items()) {
        below.erase(name);
        below["vary"][name] = values;
      }
      continue;
    }
    if (below.contains("vary")) below["vary"].erase(key);
    const bool window =
        std::find(std::begin(kWindowKeys), std::end(kWindowKeys), key) != std::end(kWindowKeys);
    if (window) {
      for (const char* other : kWindowKeys) below.erase(other);
    }
    // A reference among policies that are no longer there means nothing.
    if (key == "policies" && !above.contains("reference")) below.erase("reference");
    below[key] = value;
  }
  return below;
}

std::vector<std::string> FactorNames(const SweepDefinition& definition) {
  std::vector<std::string> names;
  for (const SweepFactor& factor : definition.factors) names.push_back(factor.name);
  return names;
}

std::vector<CellValues> CellsOf(const SweepDefinition& definition) {
  std::vector<CellValues> cells = {{}};
  for (const SweepFactor& factor : definition.factors) {
    std::vector<CellValues> longer;
    longer.reserve(cells.size() * factor.values.size());
    for (const CellValues& cell : cells) {
      for (const std::string& value : factor.values) {
        longer.push_back(cell);
        longer.back().push_back(value);
      }
    }
    cells = std::move(longer);
  }
  return cells;
}

std::map<std::string, std::string> WorldOptionsOf(const SweepDefinition& definition,
                                                  const CellValues& cell) {
  std::map<std::string, std::string> options = definition.world;
  std::map<std::string, std::string> value_of;
  for (std::size_t f = 0; f < cell.size(); ++f) {
    const std::string& name = definition.factors[f].name;
    value_of[name] = cell[f];
    if (!OfPolicySpec(name)) options[name] = cell[f];
  }
  for (const SweepException& exception : definition.where) {
    const bool met =
        std::all_of(exception.when.begin(), exception.when.end(),
                    [&](const auto& entry) { return value_of[entry.first] == entry.second; });
    if (!met) continue;
    for (const auto& [name, value] : exception.options) options[name] = value;
  }
  return options;
}

std::string PolicySpecOf(const SweepDefinition& definition, const CellValues& cell) {
  std::string spec;
  std::string stages;
  for (std::size_t f = 0; f < cell.size(); ++f) {
    const std::string& name = definition.factors[f].name;
    if (name == kPolicyFactor) {
      spec = ReadLabel(cell[f]).spec;
    } else if (OfPolicySpec(name)) {
      // A stage inside a policy's spec has '/' where one that stands alone has ':' and ','.
      std::string stage = cell[f];
      std::replace(stage.begin(), stage.end(), ':', '/');
      std::replace(stage.begin(), stage.end(), ',', '/');
      stages += fmt::format("{}{}={}", stages.empty() ? "" : ",", name, stage);
    }
  }
  if (stages.empty()) return spec;
  return spec + (spec.find(':') == std::string::npos ? ":" : ",") + stages;
}

std::string CellText(const SweepDefinition& definition, const CellValues& cell) {
  std::string text;
  for (std::size_t f = 0; f < cell.size(); ++f) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", definition.factors[f].name, cell[f]);
  }
  return text;
}

}  // namespace allot
