#pragma once
// Reading fields of result files: a missing key or wrong type is a DataError that names file and
// key.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/error.h"
#include "core/types.h"
#include "core/user_json.h"
#include "table/row_error.h"

namespace allot {

using Json = nlohmann::ordered_json;

inline const Json& RequireField(const Json& object, const char* key, std::string_view where) {
  if (!object.is_object()) {
    throw DataError("{}: expected an object that holds '{}', got {}", where, key,
                    object.type_name());
  }
  const auto found = object.find(key);
  if (found == object.end()) throw DataError("{}: key '{}' is required, got none", where, key);
  return *found;
}

// null stands for a number that is not known.
inline double RequireNumber(const Json& object, const char* key, std::string_view where) {
  const Json& value = RequireField(object, key, where);
  if (value.is_null()) return kUnknown;
  if (!value.is_number()) {
    throw DataError("{}: '{}' must be a number or null, got {}", where, key, value.dump());
  }
  return value.get<double>();
}

inline std::int64_t RequireInteger(const Json& object, const char* key, std::string_view where) {
  const Json& value = RequireField(object, key, where);
  if (!value.is_number_integer()) {
    throw DataError("{}: '{}' must be an integer, got {}", where, key, value.dump());
  }
  return value.get<std::int64_t>();
}

inline std::string RequireText(const Json& object, const char* key, std::string_view where) {
  const Json& value = RequireField(object, key, where);
  if (!value.is_string()) {
    throw DataError("{}: '{}' must be a string, got {}", where, key, value.dump());
  }
  return value.get<std::string>();
}

inline bool RequireFlag(const Json& object, const char* key, std::string_view where) {
  const Json& value = RequireField(object, key, where);
  if (!value.is_boolean()) {
    throw DataError("{}: '{}' must be true or false, got {}", where, key, value.dump());
  }
  return value.get<bool>();
}

inline const Json& RequireList(const Json& object, const char* key, std::string_view where) {
  const Json& value = RequireField(object, key, where);
  if (!value.is_array()) {
    throw DataError("{}: '{}' must be a list, got {}", where, key, value.type_name());
  }
  return value;
}

inline Json NumberOrNull(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

// Parses the whole text; DataError with the position otherwise.
inline Json ParseJson(std::string_view text, std::string_view where) {
  JsonFault fault;
  Json json = ParseUserJson<Json>(text, &fault);
  if (!json.is_discarded()) return json;
  throw DataError("{}: {}, got {} at byte {}", where, fault.rule,
                  Quoted(text.substr(std::min(fault.byte, text.size()), 20)), fault.byte);
}

}  // namespace allot
