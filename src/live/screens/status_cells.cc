#include "live/screens/status_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metrics/humanise.h"

namespace allot {

std::string ShareBar(double share, int width) {
  const auto filled = static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * width));
  return std::string(filled, '#') + std::string(static_cast<std::size_t>(width) - filled, '.');
}

std::string DoneCell(std::optional<double> share) {
  if (!share) return "";
  return fmt::format("{} {:3.0f} %", ShareBar(*share, 10), 100 * std::min(1.0, *share));
}

std::string NodesCell(const JobStatus& job) {
  std::string text;
  for (const auto& [node, gpus] : job.nodes) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", node, gpus);
  }
  return text;
}

std::string_view NodeStateCell(NodeState state) {
  return state == NodeState::kMaintenance ? "in maintenance" : NameOf(state);
}

std::array<std::string, 3> TimeCells(const ForecastStatus& forecast,
                                     const std::optional<ForecastTimes>& times, Seconds now) {
  if (!forecast.end) return {"?", "?", "?"};
  if (!times) return {"runs", "", ""};
  std::array<std::string, 3> cells;
  for (std::size_t level = 0; level < cells.size(); ++level) {
    const Seconds time = (*times)[level];
    cells[level] = time == kNever ? "later" : HumanDuration(std::max(0.0, time - now));
  }
  return cells;
}

std::string MoreJobsText(const DaemonStatus& status) {
  return status.more_jobs == 0 ? "" : fmt::format(", {} more to come", status.more_jobs);
}

std::string TroubleLines(const DaemonStatus& status) {
  std::string lines;
  if (status.trouble) {
    lines += fmt::format("nothing is changed until the cluster can be asked again: {}\n",
                         *status.trouble);
  }
  if (status.warning) lines += fmt::format("warning: {}\n", *status.warning);
  return lines;
}

}  // namespace allot
