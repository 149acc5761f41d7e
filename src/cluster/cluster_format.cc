#include "cluster/cluster_format.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/file.h"
#include "table/text_encoding.h"

namespace allot {

ClusterSpec ReadCluster(const std::string& path, ReadReport* report) {
  const std::string text = DecodeText(ReadTextFile(path), path).text;
  const ClusterFormat* best = nullptr;
  int best_score = 0;
  for (const ClusterFormat& format : Registry<ClusterFormat>::Global().entries()) {
    const int score = format.detect(text);
    if (score <= best_score) continue;
    best = &format;
    best_score = score;
  }
  *report = {};
  report->format = best->id;  // one of them takes any text
  return best->read(text, path, report);
}

std::string ClusterNote(const std::string& cluster) {
  std::error_code ignored;  // a text that cannot be a path is simply no file
  if (!std::filesystem::is_regular_file(cluster, ignored)) return "";
  ReadReport report;
  ReadCluster(cluster, &report);
  std::string note;
  if (!report.drops.empty()) {
    note += fmt::format("note: {} of {} entries of '{}' left out\n", report.dropped(), report.rows,
                        cluster);
  }
  for (const DropCount& drop : report.drops) {
    note += fmt::format("      {:>8}  {} (first: {})\n", drop.rows, drop.reason, drop.example);
  }
  for (const DropCount& adjusted : report.adjusted) {
    note += fmt::format("note: {} x {} (first: {})\n", adjusted.rows, adjusted.reason,
                        adjusted.example);
  }
  return note;
}

}  // namespace allot
