#pragma once
// The report: evaluations and training curves as one self-contained HTML page, with tables that
// need no JavaScript and charts drawn by the page's own. No network, no fonts, no clock: the same
// input gives the same bytes. Called by `allot report`; what it reads is documented in
// docs/formats/results.md.

#include <string>
#include <vector>

namespace allot {

struct ReportInput {
  std::string title;                  // may be empty
  std::string date;                   // as it shall be printed; may be empty
  std::string version;                // of allot, with commit where known
  std::vector<std::string> commands;  // how to repeat what is shown, in order
  // With evaluation.json, the first of which makes the headline, or a sweep's, or lengths.csv,
  // alone or beside the first.
  std::vector<std::string> evaluation_dirs;
  bool kept = true;  // false: these folders are temporary, so the page does not name them
  std::vector<std::string> training_dirs;  // with curve.csv or pretrain.csv or both
  // HTML from report/whatif.h: in place of the headline, and sections before the others.
  std::string headline_html{};
  std::string lead_html{};
};

// UsageError when there is nothing to show; DataError for malformed input.
std::string RenderReport(const ReportInput& input);

void WriteReport(const ReportInput& input, const std::string& path);

}  // namespace allot
