#pragma once
// "How to repeat this" at the end of the report: commands to paste, and what they were run on.

#include <string>
#include <vector>

#include "metrics/evaluation.h"
#include "report/report.h"

namespace allot {

// One a line.
std::string CommandsHtml(const std::vector<std::string>& commands);

// Version, inputs and seeds of an evaluation, by origin.json (docs/formats/results.md); of results
// of before the seeds alone. DataError where it is malformed.
std::string OriginHtml(const std::string& directory, bool kept, const Evaluation& evaluation);

// That makes the page again.
std::string ReportCommand(const ReportInput& input);

}  // namespace allot
