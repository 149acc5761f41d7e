#pragma once
// Figures on the page: drawn twice, for wide and for narrow windows, each with its numbers as CSV
// in the page's data, from which charts.js reads what the pointer is on. Called by report.cc.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/figure.h"

namespace allot {

// HTML; the CSV of each goes to `data`, {"KEY": {"name": file name, "csv": text}}. `section` makes
// keys unique. Figures of one id become one with a choice.
std::string FiguresHtml(const std::vector<Figure>& figures, const std::string& section,
                        nlohmann::ordered_json* data);

// The file name of a figure without its ending; `number` counts its choices from 0: "queue",
// "queue-2".
std::string FigureFileName(const Figure& figure, std::size_t number);

}  // namespace allot
