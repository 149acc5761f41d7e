#pragma once
// Text and data made safe to stand inside a page, and a page filled slot by slot.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace allot {

// For element content and quoted attributes.
std::string EscapeHtml(std::string_view text);

// A term and what it is, for <dl class="facts">.
std::string HtmlFact(std::string_view term, std::string_view value);

// Compact JSON that no content can break out of a <script> element; invalid UTF-8 is replaced.
std::string JsonForScript(const nlohmann::ordered_json& json);

// Replaces each {{name}} by its value, which is not looked at again. Every slot must have a value.
std::string FillSlots(std::string_view page,
                      const std::map<std::string_view, std::string_view>& values);

}  // namespace allot
