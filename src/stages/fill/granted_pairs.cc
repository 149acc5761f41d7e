#include "stages/fill/granted_pairs.h"

#include "core/index.h"
#include "stages/fill/pair_rates.h"

namespace allot {

void GrantedPairs::Read(const Observation& o, std::span<const std::int32_t> order,
                        std::span<const std::int32_t> sizes, std::span<const GpuTypeIndex> types,
                        std::span<const std::int32_t> partners) {
  pairs_.clear();
  if (partners.empty()) return;
  role_.assign(o.job.size(), kAloneRole);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (partners[i] <= static_cast<std::int32_t>(i)) continue;
    const std::size_t other = At(partners[i]);
    const ConfigurationTable& table = *o.table[At(order[i])];
    const ConfigurationTable& beside = *o.table[At(order[other])];
    const std::int32_t first = Beside(table, table[sizes[i]].units, beside.name(), types[i]);
    const std::int32_t second = Beside(beside, beside[sizes[other]].units, table.name(), types[i]);
    if (first < 0 || second < 0) continue;
    role_[At(order[i])] = static_cast<std::int32_t>(pairs_.size());
    role_[At(order[other])] = kSecond;
    pairs_.push_back({order[i], first, 0, order[other], second});
  }
}

void GrantedPairs::Apply(const Observation& o, std::span<const Grant> grants,
                         std::vector<PairedGrant>* paired) const {
  for (const Grant& grant : grants) {
    const std::int32_t role = pairs_.empty() ? kAloneRole : role_[At(grant.row)];
    if (role >= 0) {
      const PairedGrant& pair = pairs_[At(role)];
      const ConfigurationTable& table = *o.table[At(grant.row)];
      if (table.SameUnits(grant.configuration, pair.configuration) &&
          table[grant.configuration].gpu_type == table[pair.configuration].gpu_type) {
        paired->push_back(pair);
        continue;
      }
    }
    // Sizings let a job go on as it runs, which may be as one of a pair that parts.
    const ConfigurationTable& table = *o.table[At(grant.row)];
    const Configuration& c = table[grant.configuration];
    const std::int32_t alone =
        c.partner == kNoPartner ? grant.configuration : table.Find(c.units, c.gpu_type);
    if (alone >= 0) paired->push_back({.row = grant.row, .configuration = alone});
  }
}

}  // namespace allot
