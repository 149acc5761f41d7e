#include "stages/fill/paired_placement.h"

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

// A pair is placed as its first job would be alone, or stays where it is. -1: not at all.
Grant GrantOf(const Observation& o, const PairedGrant& paired) {
  if (paired.partner_row < 0) return {paired.row, paired.configuration};
  const bool stays = o.running[At(paired.row)] == paired.configuration &&
                     o.running[At(paired.partner_row)] == paired.partner_configuration &&
                     o.partner_of(paired.row) == o.job[At(paired.partner_row)];
  if (stays) return {paired.row, paired.configuration};
  const ConfigurationTable& table = *o.table[At(paired.row)];
  const Configuration& c = table[paired.configuration];
  return {paired.row, table.Find(c.units, c.gpu_type), true};
}

}  // namespace

void PairedPlacement::Place(const Observation& o, std::span<const PairedGrant> grants,
                            Placement* placement, Allocation* allocation) {
  paired_ = grants;
  grants_.clear();
  for (const PairedGrant& paired : paired_) {
    const Grant grant = GrantOf(o, paired);
    if (grant.configuration >= 0) grants_.push_back(grant);
  }
  placement->Place(o, grants_, allocation);
  const std::size_t placed = allocation->entries().size();
  std::size_t next = 0;
  bool pairs = false;
  for (std::size_t e = 0; e < placed; ++e) {
    const PairedGrant& paired = GrantTo(o, allocation->entries()[e].job, &next);
    allocation->SetShare(e, paired.share);
    pairs = pairs || paired.partner_row >= 0;
  }
  if (pairs) Join(o, placed, allocation);
}

// Placements mostly serve in order.
const PairedGrant& PairedPlacement::GrantTo(const Observation& o, JobIndex job,
                                            std::size_t* next) const {
  for (std::size_t looked = 0; looked < paired_.size(); ++looked) {
    if (*next == paired_.size()) *next = 0;
    const PairedGrant& paired = paired_[(*next)++];
    if (o.job[At(paired.row)] == job) return paired;
  }
  throw RunError("a placement serves grants only: job {} has none of the {}", job, paired_.size());
}

// The second of a pair needs CPUs and memory beside the first, which the placement has not looked
// at, and the nodes must be as many as both can lie on: else the first has the GPUs alone.
void PairedPlacement::Join(const Observation& o, std::size_t placed, Allocation* allocation) {
  free_.Reset(*o.cluster);
  std::size_t next = 0;
  std::vector<const PairedGrant*>& of = of_entry_;
  of.clear();
  for (std::size_t e = 0; e < placed; ++e) {
    const Allocation::Entry& entry = allocation->entries()[e];
    of.push_back(&GrantTo(o, entry.job, &next));
    const auto& kinds = o.table[At(of.back()->row)]->kinds();
    for (const NodeShare& share : allocation->shares(entry)) {
      free_.TakeExactly(share.node, share.gpus, DemandOf(kinds, share.units));
    }
  }
  for (std::size_t e = 0; e < placed; ++e) {
    const PairedGrant& paired = *of[e];
    if (paired.partner_row < 0) continue;
    if (Joins(o, paired, allocation->shares(allocation->entries()[e]))) {
      allocation->Pair(e, paired.configuration, o.job[At(paired.partner_row)],
                       paired.partner_configuration);
    } else {
      const ConfigurationTable& table = *o.table[At(paired.row)];
      const Configuration& c = table[paired.configuration];
      const std::size_t nodes = allocation->shares(allocation->entries()[e]).size();
      allocation->SetConfiguration(e, table.Find(c.units, c.gpu_type, nodes));
    }
  }
}

bool PairedPlacement::Joins(const Observation& o, const PairedGrant& paired,
                            std::span<const NodeShare> shares) {
  const ConfigurationTable& table = *o.table[At(paired.row)];
  const ConfigurationTable& other = *o.table[At(paired.partner_row)];
  if (!table[paired.configuration].span.Holds(shares.size())) return false;
  if (!other[paired.partner_configuration].span.Holds(shares.size())) return false;
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const Resources demand = DemandOf(other.kinds(), shares[s].units);
    if (free_.Join(shares[s].node, shares[s].gpus, demand)) continue;
    while (s-- > 0) {
      free_.Release(shares[s].node, shares[s].gpus, DemandOf(other.kinds(), shares[s].units));
    }
    return false;
  }
  return true;
}

}  // namespace allot
