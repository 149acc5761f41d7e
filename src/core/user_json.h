#pragma once
// JSON that users and other programs give. A file that nests a hundred thousand lists would end the
// program: copies of such values and their text are made by recursion.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace allot {

inline constexpr int kDeepestJson = 100;  // lists and objects inside of one another

// Why a text was refused.
struct JsonFault {
  std::string rule;      // "must be well-formed JSON"
  std::size_t byte = 0;  // where, from 0
};

// Where the text opens one list or object too many; nullopt: nowhere.
std::optional<std::size_t> FindTooDeep(std::string_view text);

// The whole text as one value. A discarded value where it is none or too deep; `fault` then says
// why.
template <typename BasicJson = nlohmann::json>
BasicJson ParseUserJson(std::string_view text, JsonFault* fault = nullptr) {
  JsonFault unwanted;
  JsonFault& why = fault != nullptr ? *fault : unwanted;
  if (const auto at = FindTooDeep(text)) {
    why = {"must not nest lists and objects deeper than " + std::to_string(kDeepestJson), *at};
    return BasicJson(BasicJson::value_t::discarded);
  }
  try {
    return BasicJson::parse(text);
  } catch (const typename BasicJson::parse_error& error) {
    why = {"must be well-formed JSON", error.byte > 0 ? error.byte - 1 : 0};
  } catch (const typename BasicJson::exception&) {  // a number too large for a double
    why = {"must be well-formed JSON", 0};
  }
  return BasicJson(BasicJson::value_t::discarded);
}

}  // namespace allot
