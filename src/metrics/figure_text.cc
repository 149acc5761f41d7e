// Widths and outlines of letters, from report/glyphs.txt: "CODE ADVANCE PATH" a line, in
// thousandths of the letters' height, the path in commands M L H V Q C Z.

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <map>

#include "core/strings.h"
#include "metrics/figure_svg.h"
#include "metrics/report_assets.h"

namespace allot {
namespace {

struct Glyph {
  double advance = 600;
  std::string_view path;
};

const std::map<std::uint32_t, Glyph>& Glyphs() {
  static const std::map<std::uint32_t, Glyph> glyphs = [] {
    std::map<std::uint32_t, Glyph> table;
    std::string_view rest = kFigureGlyphs;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.empty() || line.front() == '#') continue;
      const std::size_t first = line.find(' ');
      const std::size_t second = line.find(' ', first + 1);
      Glyph& glyph = table[static_cast<std::uint32_t>(
          std::strtoul(std::string(line.substr(0, first)).c_str(), nullptr, 10))];
      glyph.advance =
          std::strtod(std::string(line.substr(first + 1, second - first - 1)).c_str(), nullptr);
      if (second != std::string_view::npos) glyph.path = line.substr(second + 1);
    }
    return table;
  }();
  return glyphs;
}

// Calls visit(code point, place of its first byte); what is no UTF-8 counts byte by byte.
template <typename Visit>
void ForEachLetter(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    length = std::min(length, text.size() - at);
    std::uint32_t code = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
      code = (code << 6U) | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    }
    visit(code, at);
    at += length;
  }
}

const Glyph& GlyphOf(std::uint32_t code) {
  const auto found = Glyphs().find(code);
  return found != Glyphs().end() ? found->second : Glyphs().at('?');
}

// A glyph's path with its numbers scaled and moved: x and y alternate, but for H and V.
void AppendMoved(std::string_view path, double scale, double x, double y, std::string* out) {
  char command = 'M';
  bool horizontal = true;
  for (std::size_t at = 0; at < path.size();) {
    const char c = path[at];
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      command = c;
      horizontal = command != 'V';
      *out += c;
      ++at;
    } else if (c == ' ' || c == ',') {
      ++at;
    } else {
      const std::size_t begin = at++;
      while (at < path.size() &&
             (std::isdigit(static_cast<unsigned char>(path[at])) != 0 || path[at] == '.')) {
        ++at;
      }
      const double value =
          std::strtod(std::string(path.substr(begin, at - begin)).c_str(), nullptr) * scale;
      if (!out->empty() && std::isalpha(static_cast<unsigned char>(out->back())) == 0) *out += ' ';
      *out += fmt::format("{:.2f}", value + (horizontal ? x : y));
      if (command != 'H' && command != 'V') horizontal = !horizontal;
    }
  }
}

}  // namespace

double TextWidth(std::string_view text, double size) {
  double width = 0;
  ForEachLetter(text, [&](std::uint32_t code, std::size_t) { width += GlyphOf(code).advance; });
  return width * size / 1000;
}

std::string TextOutlines(std::string_view text, double size, double x, double y) {
  std::string path;
  ForEachLetter(text, [&](std::uint32_t code, std::size_t) {
    const Glyph& glyph = GlyphOf(code);
    AppendMoved(glyph.path, size / 1000, x, y, &path);
    x += glyph.advance * size / 1000;
  });
  return path;
}

std::string FittedText(std::string_view text, double size, double width) {
  if (TextWidth(text, size) <= width) return std::string(text);
  const double room = width - TextWidth("…", size);
  double used = 0;
  std::size_t end = 0;
  bool full = false;
  ForEachLetter(text, [&](std::uint32_t code, std::size_t at) {
    if (full) return;
    end = at;
    used += GlyphOf(code).advance * size / 1000;
    full = used > room;
  });
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace allot
