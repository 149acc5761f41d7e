#include "experiment/read_note.h"

#include <fmt/format.h>

#include <vector>

#include "core/counted.h"
#include "workload/trace_stats_text.h"

namespace allot {

std::string ReadNote(const std::string& path, const ReadReport& report) {
  std::string note;
  for (const std::string& text : report.notes) note += fmt::format("note: {}\n", text);
  const auto list = [&note](const std::vector<DropCount>& counts) {
    for (const DropCount& count : counts) {
      note +=
          fmt::format("      {:>8}  {}{} (first: {})\n", count.rows, count.reason,
                      count.gpu_hours > 0 ? fmt::format(", {:.4g} GPU-hours", count.gpu_hours) : "",
                      count.example);
    }
  };
  if (!report.ignored_columns.empty()) {
    note += fmt::format("note: ignored in '{}': {}\n", path, IgnoredColumns(report));
  }
  if (!report.drops.empty()) {
    note += fmt::format("note: {} of {} of '{}' left out\n", report.dropped(),
                        Counted(report.rows, "record"), path);
    list(report.LargestDrops());
  }
  if (!report.clipped.empty()) {
    note += fmt::format("note: jobs of '{}' made smaller (--oversized clip)\n", path);
    list(report.clipped);
  }
  return note;
}

}  // namespace allot
