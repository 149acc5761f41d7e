#pragma once
// Figures as files, for papers: SVG as wide as one column (3.3 inches), with text as outlines of
// DejaVu Sans, and beside each its numbers as CSV. What `allot plot` does.

#include <string>
#include <vector>

namespace allot {

struct PlotInput {
  std::string results{};  // folder of an evaluation, a sweep, a training or lengths.csv
  std::string out{};      // folder
  std::vector<std::string> figures{};  // ids; empty: all
};

// Paths of the SVG files. UsageError for a folder that has no results, or a figure that they do not
// have: it names those they have. DataError for malformed results.
std::vector<std::string> PlotFigures(const PlotInput& input);

}  // namespace allot
