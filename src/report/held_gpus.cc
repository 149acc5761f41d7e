#include "report/held_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "cluster/cluster_spec.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "table/csv.h"

namespace allot {
namespace {

constexpr std::size_t kNamedNodes = 6;

std::vector<NodeHolding> NodesFrom(std::string_view text, const std::string& place) {
  std::vector<NodeHolding> nodes;
  if (text.empty()) return nodes;
  for (const std::string_view part : Split(text, ' ')) {
    const auto fields = Split(part, ':');
    const bool pair = fields.size() == 2;
    const long long node = pair ? ParseInteger(fields[0]).value_or(-1) : -1;
    const long long gpus = pair ? ParseInteger(fields[1]).value_or(-1) : -1;
    if (node < 0 || node > 1'000'000 || gpus < 0 || gpus > kMaxGpusPerNode) {
      throw DataError("{}: 'nodes' must be NODE:GPUS parts such as '0:4 3:2', got '{}'", place,
                      text);
    }
    nodes.push_back({static_cast<NodeIndex>(node), static_cast<GpuCount>(gpus)});
  }
  return nodes;
}

}  // namespace

std::vector<HeldGpus> ReadHeldGpus(const RunFigures& run) {
  std::vector<HeldGpus> all;
  const std::string path = (run.directory / "allocations.csv").string();
  if (!std::filesystem::exists(path)) return all;
  const std::string text = ReadTextFile(path);
  std::unordered_map<std::string_view, std::size_t> row_of;
  for (std::size_t i = 0; i < run.jobs.id.size(); ++i) row_of.emplace(run.jobs.id[i], i);
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last(run.jobs.id.size(), kNone);  // by job, its span
  CsvReader csv(text, path, {"time_s", "job_id", "gpus", "nodes"}, {});
  while (csv.Next()) {
    csv.CheckRow();
    const auto found = row_of.find(csv.Text("job_id"));
    if (found == row_of.end()) {
      throw DataError("{}: job '{}' must be in jobs.csv beside it, it is not", csv.place(),
                      csv.Text("job_id"));
    }
    const double time = csv.Number("time_s");
    std::size_t& before = last[found->second];
    if (before != kNone) all[before].end = std::min(all[before].end, time);
    before = kNone;
    HeldGpus held{.job = found->second, .begin = time, .end = run.jobs.finish[found->second]};
    held.nodes = NodesFrom(csv.Text("nodes"), csv.place());
    for (const NodeHolding& share : held.nodes) held.gpus += share.gpus;
    if (std::isnan(held.end)) held.end = kNever;
    if (held.nodes.empty()) continue;
    before = all.size();
    all.push_back(std::move(held));
  }
  std::erase_if(all, [](const HeldGpus& held) { return held.end <= held.begin; });
  return all;
}

std::string HeldInWords(const HeldGpus& held, const Topology* topology) {
  std::string text =
      fmt::format("{} on {} ", Counted(held.gpus, "GPU"), NounFor(std::ssize(held.nodes), "node"));
  for (std::size_t i = 0; i < std::min(held.nodes.size(), kNamedNodes); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(held.nodes[i].node);
    if (held.nodes.size() > 1) text += fmt::format(" ({})", held.nodes[i].gpus);
  }
  if (held.nodes.size() > kNamedNodes) {
    text += fmt::format(" and {} more", held.nodes.size() - kNamedNodes);
  }
  if (topology == nullptr || held.nodes.size() == 1) return text;
  std::vector<NodeShare> shares;
  shares.reserve(held.nodes.size());
  for (const NodeHolding& holding : held.nodes) shares.push_back({.node = holding.node});
  const int level = topology->LevelOf(shares);
  text += level == topology->top() ? ", across the cluster"
                                   : fmt::format(", in one {}", topology->level(level).name);
  return text;
}

}  // namespace allot
