#include "metrics/html.h"

#include <nlohmann/json.hpp>

#include "core/check.h"
#include "core/json_text.h"

namespace allot {

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string HtmlFact(std::string_view term, std::string_view value) {
  return "<div><dt>" + EscapeHtml(term) + "</dt><dd>" + EscapeHtml(value) + "</dd></div>\n";
}

std::string JsonForScript(const nlohmann::ordered_json& json) {
  const std::string text = JsonText(json, -1);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    // These occur inside JSON strings only, where the escape means the same character.
    if (c == '<')
      safe += "\\u003c";
    else if (c == '>')
      safe += "\\u003e";
    else if (c == '&')
      safe += "\\u0026";
    else
      safe += c;
  }
  return safe;
}

std::string FillSlots(std::string_view page,
                      const std::map<std::string_view, std::string_view>& values) {
  std::string filled;
  while (true) {
    const std::size_t open = page.find("{{");
    filled += page.substr(0, open);
    if (open == std::string_view::npos) return filled;
    const std::size_t close = page.find("}}", open);
    ALLOT_CHECK(close != std::string_view::npos);
    const auto value = values.find(page.substr(open + 2, close - open - 2));
    ALLOT_CHECK(value != values.end());
    filled += value->second;
    page.remove_prefix(close + 2);
  }
}

}  // namespace allot
