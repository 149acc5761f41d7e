#include "report/figure_text.h"

namespace allot {
namespace {

constexpr std::string_view kEllipsis = "…";

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }

// Of the letter that begins with this byte of UTF-8, in heights of letters: as in DejaVu Sans,
// which is wider than most fonts that a viewer may have.
double LetterWidth(char lead) {
  constexpr std::string_view kNarrow = "',.IJijl-/:;\\f|!()[]rt ";
  constexpr std::string_view kWide = "#%&+<=>@CGMOQW^mw~";
  if (kNarrow.find(lead) != std::string_view::npos) return 0.36;
  return kWide.find(lead) != std::string_view::npos ? 0.88 : 0.65;
}

}  // namespace

double TextWidth(std::string_view text, double size) {
  double width = 0;
  for (const char byte : text) width += Continues(byte) ? 0 : LetterWidth(byte);
  return width * size;
}

std::string FittedText(std::string_view text, double size, double width) {
  if (TextWidth(text, size) <= width) return std::string(text);
  const double room = width - TextWidth(kEllipsis, size);
  std::size_t end = text.size();
  const auto splits_letter = [text](std::size_t at) {
    return at < text.size() && Continues(text[at]);
  };
  while (end > 0 && (splits_letter(end) || TextWidth(text.substr(0, end), size) > room)) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

}  // namespace allot
