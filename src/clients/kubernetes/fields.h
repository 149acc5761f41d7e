#pragma once
// Fields far inside of objects of the API. For the readers here and those of the runtime.

#include <nlohmann/json.hpp>

namespace allot {

// nullptr where it is absent or null.
inline const nlohmann::json* FindField(const nlohmann::json& object,
                                       const nlohmann::json::json_pointer& where) {
  if (!object.contains(where)) return nullptr;
  const nlohmann::json& found = object.at(where);
  return found.is_null() ? nullptr : &found;
}

}  // namespace allot
