#include "cluster/node_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"
#include "core/gpu_parts.h"
#include "core/strings.h"
#include "perf/throughput_model.h"
#include "table/row_error.h"

namespace allot {
namespace {

constexpr std::int64_t kMostListedNodes = 1'000'000;
constexpr std::int64_t kMostListedCpus = 2'000;
constexpr std::int64_t kMbPerListedGb = 1024;
constexpr std::int64_t kMostListedGb = 1'000'000;  // more than any job asks for
constexpr std::int64_t kUsualCpusPerGpu = 8;

}  // namespace

std::string ClusterTypeName(std::string_view type) {
  std::string name = ToLower(Trim(type));
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '-' && c != '_' && c != '.') c = '-';
  }
  return name.empty() ? std::string(kUnnamedGpuType) : name;
}

void NodeList::Drop(std::string_view reason, int line) {
  report_->Drop(reason, fmt::format("{}:{}", path_, line));
}

void NodeList::Skip(std::string_view reason, int line) {
  ++report_->rows;
  Drop(reason, line);
}

void NodeList::Add(ListedNode node, int line) {
  ++report_->rows;
  const std::string place = fmt::format("{}:{}", path_, line);
  if (!node.name.empty() && !seen_.insert(node.name).second) {
    return Drop("a node that was listed before (in another partition)", line);
  }
  std::int64_t gpus = 0;
  for (ListedNode::Gpus& some : node.gpus) {
    if (some.count > 0 && NamesPartOfGpu(some.type)) {
      node.parts = true;
      some.count = 0;
    }
    if (some.count < 0 || some.count > kMaxGpusPerNode) {
      throw RowError(fmt::format("a node has 0 to {} GPUs", kMaxGpusPerNode),
                     std::to_string(some.count), place);
    }
    gpus += some.count;
  }
  if (gpus == 0)
    return Drop(
        node.parts ? "a node with parts of GPUs only (MIG, shared GPUs)" : "a node without GPUs",
        line);
  if (!node.away.empty()) {
    return Drop(fmt::format("a node where nothing can start: {}", node.away), line);
  }
  if (static_cast<std::int64_t>(spec_.nodes().size()) >= kMostListedNodes) {
    throw RowError(fmt::format("a cluster has at most {} nodes", kMostListedNodes), "one more",
                   place);
  }
  const auto kinds = std::count_if(node.gpus.begin(), node.gpus.end(),
                                   [](const auto& some) { return some.count > 0; });
  if (node.parts) report_->Adjust(kPartsBeside, place);
  if (kinds > 1) report_->Adjust("a node with several GPU types as a node for each", place);
  for (const ListedNode::Gpus& some : node.gpus) {
    if (some.count == 0) continue;
    const std::int64_t cpus = node.cpus > 0 ? node.cpus : kUsualCpusPerGpu * gpus;
    Resources capacity;
    capacity.gpus = static_cast<GpuCount>(some.count);
    capacity.cpus = static_cast<std::int32_t>(std::min(kMostListedCpus, cpus * some.count / gpus));
    // Whole GB, as cluster specs have it.
    const std::int64_t gigabytes = node.memory_mb * some.count / gpus / kMbPerListedGb;
    capacity.memory_mb = kMbPerListedGb * std::clamp<std::int64_t>(gigabytes, 0, kMostListedGb);
    const std::string type = ClusterTypeName(some.type);
    const auto& types = spec_.types();
    constexpr std::size_t kMostTypes = 127;
    if (types.size() == kMostTypes && std::find(types.begin(), types.end(), type) == types.end()) {
      throw RowError(fmt::format("a cluster has at most {} GPU types", kMostTypes), Quoted(type),
                     place);
    }
    spec_.AddNodes(1, capacity, type);
    if (!node.name.empty()) spec_.NameLastNode(node.name);
    if (node.cpus > 0) spec_.LimitCpus(spec_.nodes().back().type);
  }
}

ClusterSpec NodeList::Finish(std::string_view advice) {
  if (!spec_.nodes().empty()) return std::move(spec_);
  std::string reasons;
  for (const DropCount& drop : report_->drops) {
    reasons += fmt::format("; {} left out: {} ({})", drop.rows, drop.reason, drop.example);
  }
  throw DataError("a cluster needs at least 1 node with GPUs, got none of {} entries{} ({}:1); {}",
                  report_->rows, reasons, path_, advice);
}

}  // namespace allot
