#pragma once
// JSON as text, for files and stdout. Names, paths and titles come from outside and need not be
// UTF-8: such bytes become U+FFFD instead of an error.

#include <nlohmann/json.hpp>
#include <string>

namespace allot {

template <typename BasicJson>
std::string JsonText(const BasicJson& json, int indent = 2) {
  return json.dump(indent, ' ', false, BasicJson::error_handler_t::replace);
}

}  // namespace allot
