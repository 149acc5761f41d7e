// Node by time: how much of each node is in use, a picture for each policy, of the first workload.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cluster/cluster_spec.h"
#include "cluster/topology.h"
#include "metrics/humanise.h"
#include "report/held_gpus.h"

namespace allot {
namespace {

constexpr std::size_t kHeatRows = 64;
constexpr std::size_t kHeatColumns = 160;
constexpr std::size_t kHeatPolicies = kFigureColours;

// A row of the picture.
struct NodesTogether {
  std::string label;
  double gpus = 0;
};

// The rows, and by node its row.
struct HeatRows {
  std::vector<NodesTogether> rows;
  std::vector<std::size_t> row_of;
  bool single = true;  // a node each
};

// With a topology neighbours in its tree are neighbours here.
std::vector<NodeIndex> NodesInOrder(const ClusterSpec& cluster) {
  std::vector<NodeIndex> nodes(cluster.nodes().size());
  std::iota(nodes.begin(), nodes.end(), NodeIndex{0});
  const Topology* const topology = cluster.topology();
  if (topology == nullptr) return nodes;
  std::stable_sort(nodes.begin(), nodes.end(), [topology](NodeIndex a, NodeIndex b) {
    for (int level = topology->top() - 1; level >= 1; --level) {
      const auto of_a = topology->DomainOf(level, a);
      const auto of_b = topology->DomainOf(level, b);
      if (of_a != of_b) return of_a < of_b;
    }
    return false;
  });
  return nodes;
}

// Of more nodes than rows, so many together; where the leaves are few enough, those of a leaf.
HeatRows RowsOf(const ClusterSpec& cluster) {
  const std::vector<NodeIndex> nodes = NodesInOrder(cluster);
  const Topology* const topology = cluster.topology();
  const bool has_levels = topology != nullptr && topology->top() > 1;
  const std::size_t together = (nodes.size() + kHeatRows - 1) / kHeatRows;
  const bool by_leaf =
      together > 1 && has_levels && topology->domains(1) <= static_cast<int>(kHeatRows);
  HeatRows all;
  all.single = together == 1;
  all.row_of.resize(nodes.size());
  for (std::size_t place = 0; place < nodes.size(); ++place) {
    const NodeIndex node = nodes[place];
    const auto leaf = has_levels ? topology->DomainOf(1, node) : -1;
    const bool begins = by_leaf ? place == 0 || leaf != topology->DomainOf(1, nodes[place - 1])
                                : place % together == 0;
    if (begins) {
      const std::string of_leaf =
          has_levels ? fmt::format("{} {}", topology->level(1).name, leaf) : "";
      const std::size_t last = std::min(nodes.size(), place + together) - 1;
      std::string label = of_leaf;
      if (together == 1) {
        label = fmt::format("{}node {}", has_levels ? of_leaf + ": " : "", node);
      } else if (has_levels && !by_leaf) {
        label = fmt::format("{} to {}", of_leaf, topology->DomainOf(1, nodes[last]));
      } else if (!by_leaf) {
        label = fmt::format("nodes {}-{}", node, nodes[last]);
      }
      all.rows.push_back({std::move(label)});
    }
    all.row_of[static_cast<std::size_t>(node)] = all.rows.size() - 1;
    all.rows.back().gpus += cluster.nodes()[static_cast<std::size_t>(node)].capacity.gpus;
  }
  return all;
}

Figure HeatOf(const EvaluationRuns& runs, std::size_t row, const HeatRows& nodes) {
  const RunFigures& run = runs.runs.front()[row];
  const double begin = run.begin;
  const double until = runs.ArrivalsEnd(0);
  Figure figure{.id = "heat", .title = "Use of the nodes"};
  const std::vector<HeldGpus> all = ReadHeldGpus(run);
  if (all.empty() || nodes.rows.empty() || !(until > begin)) return figure;
  const std::size_t rows = nodes.rows.size();
  std::vector<double> held(rows * kHeatColumns, 0);
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
        const auto at = static_cast<std::size_t>(node.node);
        if (at >= nodes.row_of.size()) continue;
        held[nodes.row_of[at] * kHeatColumns + c] += share * node.gpus;
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
    const double capacity = nodes.rows[r].gpus;
    panel.y.rows.push_back(nodes.rows[r].label);
    // Neighbours of one shade are one box.
    for (std::size_t c = 0; c < kHeatColumns;) {
      const auto eighths = [&](std::size_t column) {
        const double use = held[r * kHeatColumns + column] / std::max(capacity, 1.0);
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
           .text = fmt::format("{} of {} GPUs", HumanFixed(used, 1), HumanFixed(capacity, 0))});
      c = end;
    }
  }
  figure.caption = fmt::format(
      "{}: the darker, the more GPUs of {} are held, in steps of an eighth, until the last "
      "submission.{}",
      runs.rows[row].name, nodes.single ? "a node" : "these nodes",
      runs.evaluation.workloads.size() > 1 ? " Of the first workload." : "");
  figure.height = std::clamp(static_cast<double>(rows) * 15, 90.0, 640.0);
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::vector<Figure> HeatFigures(const FigureSource& source) {
  std::vector<Figure> figures;
  if (source.evaluation == nullptr) return figures;
  const EvaluationRuns& runs = *source.evaluation;
  const HeatRows nodes = runs.cluster ? RowsOf(*runs.cluster) : HeatRows{};
  for (std::size_t r = 0; r < std::min(runs.rows.size(), kHeatPolicies); ++r) {
    Figure& figure = figures.emplace_back(HeatOf(runs, r, nodes));
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
