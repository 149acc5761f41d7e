#pragma once
// How wide text in a figure is, and text that fits. Used by the renderer (report/figure_svg.h) and
// by whoever leaves room for labels. Lengths are in CSS pixels.

#include <string>
#include <string_view>

namespace allot {

// An estimate of a text's width in any common font without serifs.
double TextWidth(std::string_view text, double size);

// Cut with "…" so that it is not wider than `width`.
std::string FittedText(std::string_view text, double size, double width);

}  // namespace allot
