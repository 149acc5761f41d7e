#include "sim/lending.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace allot {

Lending::Lending(const LendingTerms& terms, const ClusterSpec& cluster, const ServiceSpan& span)
    : notice_(terms.notice),
      nodes_(static_cast<std::int32_t>(cluster.nodes().size())),
      gpus_per_node_(cluster.nodes().front().capacity.gpus),
      load_(MakeServiceLoad(terms.services, span)),
      lender_(MakeLender(terms.lender, load_)) {
  for (const Node& node : cluster.nodes()) {
    const Node& first = cluster.nodes().front();
    if (node.capacity == first.capacity && node.type == first.type) continue;
    throw UsageError("services lend nodes that are alike, got the cluster {}", cluster.ToString());
  }
  if (!(notice_ >= 0 && notice_ <= load_.history())) {
    throw UsageError(
        "the notice of recalls must be from 0 s to the {} s of the load that are known before the "
        "workload, got {}",
        load_.history(), notice_);
  }
  double steps = 0;
  double short_of = 0;
  for (Seconds time = 0; time <= span.horizon; time += ServiceLoad::kStep) {
    const std::int32_t nodes = NodesBeyond(lender_->NeedToLend(time - notice_, notice_));
    if (changes_.empty() || nodes != changes_.back().nodes) changes_.push_back({time, nodes});
    if (time > span.last_submit) continue;
    const double demand = load_.At(time);
    ++steps;
    figures_.demand += demand;
    figures_.lent += nodes * gpus_per_node_;
    short_of += std::max(0.0, demand - (nodes_ - nodes) * gpus_per_node_);
  }
  if (figures_.demand > 0) figures_.shortage = short_of / figures_.demand;
  figures_.demand /= steps;
  figures_.lent /= steps;
}

std::int32_t Lending::NodesBeyond(double gpus_needed) const {
  const double nodes = std::ceil(std::ceil(gpus_needed) / gpus_per_node_);
  return nodes_ - static_cast<std::int32_t>(std::clamp<double>(nodes, 0, nodes_));
}

void Lending::Show(Seconds now, std::int32_t nodes_lent, Observation* o) const {
  o->lent = nodes_lent * gpus_per_node_;
  o->guaranteed.clear();
  for (Seconds ahead = 0; ahead <= kGuaranteeShown; ahead += kGuaranteeStep) {
    // Until a recall that is announced now would take effect it is known what is lent.
    const Seconds seen = ahead < notice_ ? now + ahead - notice_ : now;
    const double need =
        ahead < notice_ ? lender_->NeedToLend(seen, notice_) : lender_->NeedToGuarantee(now, ahead);
    o->guaranteed.push_back(NodesBeyond(need) * gpus_per_node_);
  }
}

}  // namespace allot
