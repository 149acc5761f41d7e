#include "features/legal_configurations.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/index.h"

namespace allot {

void LegalConfigurations::Observe(const ClusterSpec& cluster) {
  const auto same = [](const Node& a, const Node& b) {
    return a.type == b.type && a.capacity == b.capacity;
  };
  cluster_ = &cluster;
  if (std::ranges::equal(nodes_, cluster.nodes(), same)) return;
  nodes_ = cluster.nodes();
  by_layout_.clear();
}

const std::vector<std::uint8_t>& LegalConfigurations::Of(const ConfigurationTable& table) {
  const auto [found, is_new] = by_layout_.try_emplace(table.layout());
  if (!is_new) return found->second;
  std::vector<std::uint8_t>& legal = found->second;
  free_.Reset(*cluster_);
  legal.reserve(At(table.size()));
  for (std::int32_t index = 0; index < table.size(); ++index) {
    legal.push_back(Legal(table, index) ? 1 : 0);
  }
  return legal;
}

bool LegalConfigurations::Legal(const ConfigurationTable& table, std::int32_t index) {
  const Configuration& configuration = table[index];
  if (!table.Allocatable(index) || configuration.partner != kNoPartner) return false;
  if (At(configuration.gpu_type) >= cluster_->types().size()) return false;
  if (!free_.totals().Fits(configuration)) return false;
  if (table.kinds().size() == 1) {
    return HeldByNodes(configuration, table.kinds().front().demand);
  }
  fit_.Reset(*cluster_);
  return fit_.Fits(configuration.gpu_type, table.kinds(), configuration.units);
}

// On the nodes with most room, as many as the span allows: more nodes hold no less.
bool LegalConfigurations::HeldByNodes(const Configuration& configuration, const Resources& unit) {
  const std::int32_t count = configuration.units.of(0);
  room_.clear();
  room_.reserve(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].type != configuration.gpu_type) continue;
    const std::int32_t room = free_.Capacity(static_cast<NodeIndex>(n), unit, count);
    if (room > 0) room_.push_back(room);
  }
  const Span& span = configuration.span;
  std::size_t most = std::min(room_.size(), At(count));
  if (span.most != Span::kAny) most = std::min(most, At(span.most));
  if (most < At(span.least)) return false;
  const auto end = room_.begin() + static_cast<std::ptrdiff_t>(most);
  std::partial_sort(room_.begin(), end, room_.end(), std::greater<>());
  return std::accumulate(room_.begin(), end, std::int64_t{0}) >= count;
}

}  // namespace allot
