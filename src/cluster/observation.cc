#include "cluster/observation.h"

#include <algorithm>
#include <cmath>

#include "core/index.h"

namespace allot {

void Events::EraseRows(std::span<const std::int32_t> gone) {
  const auto erase_from = [gone](std::vector<std::int32_t>* rows) {
    std::size_t kept = 0;
    std::size_t before = 0;  // of `gone`, those that come before the row
    for (const std::int32_t row : *rows) {
      while (before < gone.size() && gone[before] < row) ++before;
      if (before < gone.size() && gone[before] == row) continue;
      (*rows)[kept++] = row - static_cast<std::int32_t>(before);
    }
    rows->resize(kept);
  };
  erase_from(&arrived);
  erase_from(&changed);
  erase_from(&table_changed);
}

EndedJob EndedAt(const Observation& o, std::int32_t row, Seconds end) {
  const std::size_t r = At(row);
  const Configuration& requested = (*o.table[r])[o.requested[r]];
  return {.job = o.job[r],
          .submit = o.submit[r],
          .end = end,
          .work = o.done_work[r],
          .estimated_work = o.estimated_work[r],
          .requested_rate = requested.rate,
          .requested_gpus = requested.demand.gpus,
          .gpu_seconds = o.attained_gpu_seconds[r],
          .held_seconds = o.attained_seconds[r],
          .tenant = o.tenant[r],
          .user = o.user[r],
          .group = o.group[r]};
}

Observation InOrder(const Observation& from, std::span<const std::int32_t> order) {
  Observation to = from;
  to.ClearJobs();
  std::vector<std::int32_t> now(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    to.Append(from.Row(order[i]), from.shares_of(order[i]));
    if (!from.partner.empty()) to.partner.push_back(from.partner_of(order[i]));
    if (!from.places.empty()) to.places.push_back(from.places[At(order[i])]);
    now[At(order[i])] = static_cast<std::int32_t>(i);
  }
  for (auto* rows : {&to.events.arrived, &to.events.changed, &to.events.table_changed}) {
    for (std::int32_t& row : *rows) row = now[At(row)];
    std::sort(rows->begin(), rows->end());
  }
  return to;
}

double EstimatedRemaining(double estimated_work, double done_work) {
  if (std::isnan(estimated_work)) return kUnknown;
  const double left = estimated_work - done_work;
  return left > 0 ? left : 0.1 * std::max(estimated_work, done_work);
}

}  // namespace allot
