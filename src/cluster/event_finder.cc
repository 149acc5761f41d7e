#include "cluster/event_finder.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

EndedJob EventFinder::EndOf(const Seen& seen, Seconds end) const {
  const Seconds ran = end - last_time_;
  EndedJob ended = seen.last;
  ended.end = end;
  ended.work += seen.held_rate * ran;
  ended.gpu_seconds += seen.held_gpus * ran;
  ended.held_seconds += ran;
  return ended;
}

void EventFinder::Find(Observation* observation) {
  Observation& o = *observation;
  now_.clear();
  now_.reserve(o.job.size());
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t r = At(row);
    const ConfigurationTable& table = *o.table[r];
    const Configuration& held = table[o.running[r] >= 0 ? o.running[r] : o.requested[r]];
    now_.push_back({EndedAt(o, row, o.now), held.demand.gpus, held.rate, o.running[r], o.changes[r],
                    table.fingerprint(), row});
  }
  const auto by_job = [](const Seen& a, const Seen& b) { return a.last.job < b.last.job; };
  if (!std::is_sorted(now_.begin(), now_.end(), by_job)) {
    std::sort(now_.begin(), now_.end(), by_job);
  }
  Events& events = o.events;
  events.Clear();
  events.number = ++number_;
  const Seconds end = (std::max(last_time_, o.now - o.interval) + o.now) / 2;
  auto before = last_.begin();
  for (const Seen& seen : now_) {
    for (; before != last_.end() && before->last.job < seen.last.job; ++before) {
      events.ended.push_back(EndOf(*before, end));
    }
    if (before == last_.end() || before->last.job != seen.last.job) {
      events.arrived.push_back(seen.row);
      continue;
    }
    if (seen.running != before->running || seen.changes != before->changes) {
      events.changed.push_back(seen.row);
    }
    if (seen.table != before->table) events.table_changed.push_back(seen.row);
    ++before;
  }
  for (; before != last_.end(); ++before) events.ended.push_back(EndOf(*before, end));
  for (auto* rows : {&events.arrived, &events.changed, &events.table_changed}) {
    std::sort(rows->begin(), rows->end());
  }
  last_.swap(now_);
  last_time_ = o.now;
}

}  // namespace allot
