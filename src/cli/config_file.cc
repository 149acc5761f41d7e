#include "cli/config_file.h"

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <optional>

#include "cli/app_names.h"
#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

constexpr std::string_view kRulesKey = "rules";

// As on a command line.
std::optional<std::string> WordOf(const toml::node& value) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* whole = value.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = value.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = value.as_boolean()) return flag->get() ? "true" : "false";
  return std::nullopt;
}

// A value, or a list of values; nothing for anything else.
std::vector<std::string> WordsOf(const toml::node& value) {
  std::vector<std::string> words;
  if (const toml::array* list = value.as_array()) {
    for (const toml::node& item : *list) {
      const auto word = WordOf(item);
      if (!word) return {};
      words.push_back(*word);
    }
  } else if (const auto word = WordOf(value)) {
    words.push_back(*word);
  }
  return words;
}

bool IsIn(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  const auto file = app_.get_config_ptr()->as<std::string>();
  toml::table table;
  try {
    table = toml::parse(input);
  } catch (const toml::parse_error& error) {
    throw UsageError("{}:{}: must be TOML: {}", file, error.source().begin.line,
                     error.description());
  }
  const std::vector<std::string> own = LongNames(TypedApp(app_), "");
  const std::vector<std::string> global = LongNames(app_, "");
  std::vector<CLI::ConfigItem> entries;
  lines_.clear();
  for (const auto& [key, value] : table) {
    CLI::ConfigItem item;
    item.name = key.str();
    const auto line = key.source().begin.line;
    const bool is_own = IsIn(own, item.name);
    if (!is_own && value.is_table()) {
      throw UsageError("{}:{}: a config file has no sections, got [{}]", file, line, item.name);
    }
    if (!is_own && !IsIn(global, item.name)) {
      throw UsageError("{}:{}: unknown option '{}'{}", file, line, item.name,
                       DidYouMean(item.name, own));
    }
    const bool inline_rules = value.is_table() && item.name == kRulesKey;
    item.inputs = inline_rules ? std::vector{file} : WordsOf(value);
    if (item.inputs.empty()) {
      throw UsageError("{}:{}: '{}' must be a text, a number, true, false or a list of these", file,
                       line, item.name);
    }
    if (is_own) item.parents = TypedNames(app_);
    lines_[item.name] = line;
    entries.push_back(std::move(item));
  }
  return entries;
}

std::string ConfigFile::ExplainValue(const std::string& message) const {
  constexpr std::string_view kDashes = "--";
  if (!message.starts_with(kDashes)) return message;
  const auto found =
      lines_.find(message.substr(kDashes.size(), message.find_first_of(": ") - kDashes.size()));
  if (found == lines_.end()) return message;
  return fmt::format("{} (on the command line or at {}:{})", message,
                     app_.get_config_ptr()->as<std::string>(), found->second);
}

}  // namespace allot
