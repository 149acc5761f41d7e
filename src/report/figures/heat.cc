// Node by time: how much of each node is in use, a picture for each policy, of the first workload.

#include <algorithm>
#include <cmath>

#include "cluster/cluster_spec.h"
#include "metrics/humanise.h"
#include "report/held_gpus.h"

namespace allot {
namespace {

constexpr std::size_t kHeatRows = 64;
constexpr std::size_t kHeatColumns = 160;
constexpr std::size_t kHeatPolicies = kFigureColours;

// GPUs of each node; of clusters that the text does not tell, none.
std::vector<double> NodeSizes(const std::string& cluster) {
  std::vector<double> sizes;
  try {
    const ClusterSpec spec = ClusterSpec::Parse(cluster);
    for (const Node& node : spec.nodes()) sizes.push_back(node.capacity.gpus);
  } catch (const Error&) {  // it was a file, which is not here: no picture
    sizes.clear();
  }
  return sizes;
}

Figure HeatOf(const EvaluationRuns& runs, std::size_t row, const std::vector<double>& sizes) {
  const RunFigures& run = runs.runs.front()[row];
  const double begin = run.begin;
  const double until = runs.ArrivalsEnd(0);
  Figure figure{.id = "heat", .title = "Use of the nodes"};
  const std::vector<HeldGpus> all = ReadHeldGpus(run);
  if (all.empty() || sizes.empty() || !(until > begin)) return figure;
  const std::size_t together = (sizes.size() + kHeatRows - 1) / kHeatRows;
  const std::size_t rows = (sizes.size() + together - 1) / together;
  std::vector<double> held(rows * kHeatColumns, 0);
  std::vector<double> capacity(rows, 0);
  for (std::size_t n = 0; n < sizes.size(); ++n) capacity[n / together] += sizes[n];
  const double width = (until - begin) / static_cast<double>(kHeatColumns);
  for (const HeldGpus& span : all) {
    const double from = std::max(span.begin, begin) - begin;
    const double to = std::min(span.end, until) - begin;
    if (to <= from) continue;
    const auto first = static_cast<std::size_t>(from / width);
    for (std::size_t c = first; c < kHeatColumns; ++c) {
      const double left = static_cast<double>(c) * width;
      if (left >= to) break;
      const double share = (std::min(to, left + width) - std::max(from, left)) / width;
      for (const NodeHolding& node : span.nodes) {
        const auto at = static_cast<std::size_t>(node.node) / together;
        if (at < rows) held[at * kHeatColumns + c] += share * node.gpus;
      }
    }
  }
  FigurePanel panel;
  panel.x = {.key = "time_s",
             .label = "time since the first submission",
             .low = 0,
             .high = until - begin,
             .unit = AxisUnit::kSeconds};
  panel.y.key = "node";
  for (std::size_t r = 0; r < rows; ++r) {
    panel.y.rows.push_back(together == 1
                               ? fmt::format("node {}", r)
                               : fmt::format("nodes {}-{}", r * together,
                                             std::min(sizes.size(), (r + 1) * together) - 1));
    // Neighbours of one shade are one box.
    for (std::size_t c = 0; c < kHeatColumns;) {
      const auto eighths = [&](std::size_t column) {
        const double use = held[r * kHeatColumns + column] / std::max(capacity[r], 1.0);
        return std::lround(std::min(use, 1.0) * 8);
      };
      std::size_t end = c + 1;
      while (end < kHeatColumns && eighths(end) == eighths(c)) ++end;
      double used = 0;
      for (std::size_t i = c; i < end; ++i) used += held[r * kHeatColumns + i];
      used /= static_cast<double>(end - c);
      panel.boxes.push_back(
          {.x0 = static_cast<double>(c) * width,
           .x1 = static_cast<double>(end) * width,
           .y0 = static_cast<double>(r),
           .y1 = static_cast<double>(r + 1),
           .colour = runs.styles[row].colour,
           .shade = static_cast<double>(eighths(c)) / 8,
           .text = fmt::format("{} of {} GPUs", HumanFixed(used, 1), HumanFixed(capacity[r], 0))});
      c = end;
    }
  }
  figure.caption = fmt::format(
      "{}: the darker, the more GPUs of {} are held, in steps of an eighth, until the last "
      "submission.{}",
      runs.rows[row].name, together == 1 ? "a node" : "these nodes",
      runs.evaluation.workloads.size() > 1 ? " Of the first workload." : "");
  figure.height = std::clamp(static_cast<double>(rows) * 15, 90.0, 640.0);
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::vector<Figure> HeatFigures(const FigureSource& source) {
  std::vector<Figure> figures;
  if (source.evaluation == nullptr) return figures;
  const EvaluationRuns& runs = *source.evaluation;
  const std::vector<double> sizes = NodeSizes(runs.evaluation.cluster);
  for (std::size_t r = 0; r < std::min(runs.rows.size(), kHeatPolicies); ++r) {
    Figure& figure = figures.emplace_back(HeatOf(runs, r, sizes));
    figure.wide = figure.zoom = true;
    figure.choice_kind = kPolicyChoice;
    figure.choice = runs.rows[r].name;
  }
  return figures;
}

ALLOT_REGISTER(FigureInfo,
               (FigureInfo{"heat", "use of each node over time, by policy", 80, HeatFigures}));

}  // namespace
}  // namespace allot
