#pragma once
// "How to repeat this" at the end of the report: commands, and what they left to defaults.

#include <string>
#include <vector>

#include "metrics/evaluation.h"
#include "metrics/report.h"

namespace allot {

std::string CommandsHtml(const std::vector<std::string>& commands);

// Of origin.json (docs/formats/results.md) and the seeds; of results of before the seeds alone.
// DataError where it is malformed.
std::string OriginHtml(const std::string& directory, const Evaluation& evaluation);

// That makes the page again.
std::string ReportCommand(const ReportInput& input);

}  // namespace allot
