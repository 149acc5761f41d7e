#include "cluster/gpu_slowness.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "table/csv.h"

namespace allot {

GpuSlowness::GpuSlowness(const ClusterSpec& cluster) : first_gpu_{0} {
  for (const Node& node : cluster.nodes()) {
    first_gpu_.push_back(first_gpu_.back() + At(node.capacity.gpus));
  }
}

std::shared_ptr<const GpuSlowness> GpuSlowness::FromCsv(std::string_view text,
                                                        const std::string& path,
                                                        const ClusterSpec& cluster) {
  const auto slowness = std::make_shared<GpuSlowness>(cluster);
  CsvReader csv(text, path, {"node", "gpu", "class", "slowness"});
  std::map<std::tuple<std::string, NodeIndex, GpuCount>, double> given;
  const std::vector<Node>& nodes = cluster.nodes();
  while (csv.Next()) {
    csv.CheckRow();
    constexpr NodeIndex kMost = std::numeric_limits<NodeIndex>::max();
    const auto node = static_cast<NodeIndex>(csv.Integer("node", 0, kMost));
    const auto gpu = static_cast<GpuCount>(csv.Integer("gpu", 0, kMost));
    if (At(node) >= nodes.size()) {
      throw DataError("{}: the file is of another cluster: it names node {}, '{}' has {} (from 0)",
                      csv.place(), node, cluster.ToString(), nodes.size());
    }
    if (gpu >= nodes[At(node)].capacity.gpus) {
      throw DataError(
          "{}: the file is of another cluster: it names GPU {} of node {}, which has {} in '{}' "
          "(from 0)",
          csv.place(), gpu, node, nodes[At(node)].capacity.gpus, cluster.ToString());
    }
    std::string job_class(csv.Text("class"));
    if (job_class.empty()) {
      throw DataError("{}: 'class' must name a class of programs, got ''", csv.place());
    }
    const double value = csv.Number("slowness");
    if (!(value > 0)) throw DataError("{}: 'slowness' must be > 0, got {}", csv.place(), value);
    slowness->Set(job_class, node, gpu, value);
    const auto [first, added] = given.emplace(std::tuple(std::move(job_class), node, gpu), value);
    if (added) continue;
    throw DataError(
        "{}: a GPU has one slowness for a class, GPU {} of node {} has {} and {} for '{}'",
        csv.place(), gpu, node, first->second, value, csv.Text("class"));
  }
  return slowness;
}

std::string GpuSlowness::ToCsv() const {
  std::string text = "node,gpu,class,slowness\n";
  for (const auto& [job_class, slowness] : by_class_) {
    for (NodeIndex node = 0; At(node) + 1 < first_gpu_.size(); ++node) {
      for (std::size_t at = first_gpu(node); at < first_gpu_[At(node) + 1]; ++at) {
        if (slowness[at] == 1 && at > 0) continue;  // a row of each class
        text += fmt::format("{},{},{},{}\n", node, at - first_gpu(node), job_class, slowness[at]);
      }
    }
  }
  return text;
}

void GpuSlowness::Set(std::string_view job_class, NodeIndex node, GpuCount gpu, double slowness) {
  ALLOT_CHECK(At(node) + 1 < first_gpu_.size() && slowness > 0 && std::isfinite(slowness));
  const std::size_t at = first_gpu(node) + At(gpu);
  ALLOT_CHECK(gpu >= 0 && at < first_gpu_[At(node) + 1]);
  std::vector<double>& of_class = by_class_[std::string(job_class)];
  of_class.resize(first_gpu_.back(), 1.0);
  of_class[at] = slowness;
}

std::span<const double> GpuSlowness::Of(std::string_view job_class) const {
  auto found = by_class_.find(job_class);
  if (found == by_class_.end()) found = by_class_.find(kAnyClass);
  return found == by_class_.end() ? std::span<const double>() : found->second;
}

double GpuSlowness::SlowestOf(std::string_view job_class, std::span<const NodeShare> shares) const {
  const std::span<const double> slowness = Of(job_class);
  double slowest = 0;
  for (const NodeShare& share : shares) {
    for (std::uint64_t gpus = share.gpus; gpus != 0 && !slowness.empty(); gpus &= gpus - 1) {
      slowest = std::max(slowest, slowness[first_gpu(share.node) + At(std::countr_zero(gpus))]);
    }
  }
  return slowest > 0 ? slowest : 1;
}

}  // namespace allot
