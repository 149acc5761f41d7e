#pragma once
// Draws a figure as SVG, for the page and for papers: the same marks at the same places. Lengths
// are in CSS pixels; the first eight colours are Okabe and Ito's, which most colour-blind people
// tell apart, and series also differ in dashes once all are in use. The same input gives the same
// bytes.

#include <string>

#include "report/figure.h"

namespace allot {

// Of a single column, 3.3 inches, at this width: letters of 12.5 pixels are 8.7 points high.
inline constexpr double kColumnPixels = 340;
inline constexpr double kColumnInches = 3.3;

struct FigureLook {
  double width = kColumnPixels;
  // A file of its own: with its style, literal colours and its size in inches. Else part of a page.
  bool standalone = false;
};

std::string FigureSvg(const Figure& figure, const FigureLook& look);

// The rules of figure.css with the colours of paper in the place of the page's variables.
std::string PaperStyle();

}  // namespace allot
