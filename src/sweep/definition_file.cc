#include "sweep/definition_file.h"

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "core/file.h"
#include "metrics/json_field.h"

namespace allot {
namespace {

Json ToJson(const toml::node& node, std::string_view where) {
  if (const toml::table* table = node.as_table()) {
    Json json = Json::object();
    for (const auto& [key, value] : *table) json[std::string(key.str())] = ToJson(value, where);
    return json;
  }
  if (const toml::array* array = node.as_array()) {
    Json json = Json::array();
    for (const toml::node& item : *array) json.push_back(ToJson(item, where));
    return json;
  }
  if (const auto value = node.value_exact<std::string>()) return *value;
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return *value;
  if (const auto value = node.value_exact<double>()) return *value;
  throw DataError("{}:{}: a value must be a text, a number or true/false, got a date or time",
                  where, node.source().begin.line);
}

}  // namespace

nlohmann::ordered_json ParseToml(std::string_view text, std::string_view where) {
  try {
    return ToJson(toml::parse(text), where);
  } catch (const toml::parse_error& error) {
    throw DataError("{}:{}: must be TOML: {}", where, error.source().begin.line,
                    error.description());
  }
}

nlohmann::ordered_json ReadDefinitionFile(const std::string& path) {
  const std::string text = ReadTextFile(path);
  Json json = path.ends_with(".json") ? ParseJson(text, path) : ParseToml(text, path);
  // Else a file that was cut short, or /dev/null, would mean the sweep of all defaults.
  if (json.is_object() && json.empty()) {
    throw DataError("{}: a definition must hold at least 1 key, got none in {} bytes", path,
                    text.size());
  }
  return json;
}

}  // namespace allot
