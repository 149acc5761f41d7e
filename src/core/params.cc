#include "core/params.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/check.h"
#include "core/duration_text.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

void CheckRange(const std::string& owner, const ParamSpec& spec, double value) {
  if (value >= spec.min && value <= spec.max) return;
  throw UsageError("{}: '{}' must be in [{}, {}], got {}", owner, spec.name, spec.min, spec.max,
                   value);
}

}  // namespace

std::vector<std::string> ThePath(const std::string& value) {
  return value.empty() ? std::vector<std::string>{} : std::vector<std::string>{value};
}

std::vector<std::string> TheFile(const std::string& value) {
  std::error_code ignored;  // a text that cannot be a path is simply no file
  return std::filesystem::is_regular_file(value, ignored) ? ThePath(value)
                                                          : std::vector<std::string>{};
}

ParamSpec FileParam(ParamSpec spec, NamedFiles files) {
  spec.files = files;
  return spec;
}

std::vector<std::string> FilesOfParams(const std::vector<ParamSpec>& specs,
                                       const std::map<std::string, std::string>& given) {
  std::vector<std::string> files;
  for (const ParamSpec& spec : specs) {
    if (spec.files == nullptr) continue;
    const auto value = given.find(spec.name);
    const auto named = spec.files(value == given.end() ? spec.default_value : value->second);
    files.insert(files.end(), named.begin(), named.end());
  }
  return files;
}

Params::Params(std::string owner, std::vector<ParamSpec> specs,
               const std::map<std::string, std::string>& given, ParamLoader loader)
    : owner_(std::move(owner)), specs_(std::move(specs)), loader_(std::move(loader)) {
  std::vector<std::string> names;
  for (const ParamSpec& spec : specs_) {
    names.push_back(spec.name);
    values_[spec.name] = spec.default_value;
  }
  for (const auto& [key, value] : given) {
    if (!values_.contains(key)) {
      throw UsageError("{} has no parameter '{}'{}", owner_, key, DidYouMean(key, names));
    }
    values_[key] = value;
  }
}

const ParamSpec& Params::Spec(std::string_view name) const {
  const auto it = std::find_if(specs_.begin(), specs_.end(),
                               [&](const ParamSpec& spec) { return spec.name == name; });
  ALLOT_CHECK(it != specs_.end());
  return *it;
}

const std::string& Params::Text(std::string_view name) const { return values_.at(Spec(name).name); }

double Params::Number(std::string_view name) const {
  const ParamSpec& spec = Spec(name);
  const std::string& text = values_.at(spec.name);
  const auto value = ParseNumber(text);
  if (!value) throw UsageError("{}: '{}' must be a number, got '{}'", owner_, name, text);
  CheckRange(owner_, spec, *value);
  return *value;
}

int Params::Integer(std::string_view name) const {
  const double value = Number(name);
  if (value != std::floor(value) || std::abs(value) > 2e9) {
    throw UsageError("{}: '{}' must be an integer, got {}", owner_, name, value);
  }
  return static_cast<int>(value);
}

double Params::Duration(std::string_view name) const {
  const ParamSpec& spec = Spec(name);
  const std::string& text = values_.at(spec.name);
  const auto seconds = ParseDuration(text);
  if (!seconds)
    throw UsageError("{}: '{}' must be {}, got '{}'", owner_, name, kDurationForms, text);
  CheckRange(owner_, spec, *seconds);
  return *seconds;
}

bool Params::Flag(std::string_view name) const {
  const std::string& text = Text(name);
  if (text == "true" || text == "1" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "no") return false;
  throw UsageError("{}: '{}' must be true or false, got '{}'", owner_, name, text);
}

std::vector<double> Params::Numbers(std::string_view name) const {
  std::vector<double> numbers;
  if (Text(name).empty()) return numbers;
  for (const std::string_view part : Split(Text(name), '|')) {
    const auto value = ParseNumber(Trim(part));
    if (!value)
      throw UsageError("{}: '{}' must be numbers joined by '|', got '{}'", owner_, name, part);
    CheckRange(owner_, Spec(name), *value);
    numbers.push_back(*value);
  }
  return numbers;
}

std::any Params::Load(std::string_view kind, std::string_view name) const {
  const std::string& text = Text(name);
  if (loader_ == nullptr) {
    throw UsageError("{}: '{}' names the {} '{}', but nothing here loads one", owner_, name, kind,
                     text);
  }
  return loader_(kind, text);
}

NamedParams ParseNamedParams(std::string_view text) {
  NamedParams result;
  const std::size_t colon = text.find(':');
  result.name = std::string(Trim(text.substr(0, colon)));
  if (result.name.empty()) throw UsageError("expected NAME or NAME:key=value,..., got '{}'", text);
  if (colon == std::string_view::npos) return result;
  for (const std::string_view part : Split(text.substr(colon + 1), ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || Trim(part.substr(0, equals)).empty()) {
      throw UsageError("expected key=value after '{}:', got '{}'", result.name, part);
    }
    const std::string key(Trim(part.substr(0, equals)));
    const std::string value(Trim(part.substr(equals + 1)));
    const auto [given, first] = result.given.emplace(key, value);
    if (!first) {
      throw UsageError("'{}' is given '{}' twice: {} and {}", result.name, key, given->second,
                       value);
    }
  }
  return result;
}

std::string SpecWith(std::string_view spec, const std::string& key, const std::string& value) {
  NamedParams named = ParseNamedParams(spec);
  named.given[key] = value;
  std::string text = named.name;
  for (const auto& [name, given] : named.given) {
    text += fmt::format("{}{}={}", text == named.name ? ':' : ',', name, given);
  }
  return text;
}

}  // namespace allot
