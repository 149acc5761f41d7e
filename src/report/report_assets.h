#pragma once
// The parts of the report's page, embedded by CMake from src/report/assets/.

#include <string_view>

namespace allot {

extern const std::string_view kReportPage;    // HTML with {{slots}}
extern const std::string_view kReportStyle;   // CSS
extern const std::string_view kReportCharts;  // JavaScript
extern const std::string_view kFigureStyle;   // CSS of figures, on the page and in files

}  // namespace allot
