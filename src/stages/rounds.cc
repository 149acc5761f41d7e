#include "stages/rounds.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/index.h"

namespace allot {
namespace {

// One of those that differ in the nodes they span only.
std::int32_t OfAnySpan(const ConfigurationTable& table, std::int32_t configuration) {
  const Configuration& c = table[configuration];
  return c.partner == kNoPartner ? table.OnType(configuration, c.gpu_type) : configuration;
}

}  // namespace

void Rounds::OnEpisodeStart() {
  entries_.clear();
  any_ = false;
}

void Rounds::Account(const Observation& o) {
  const Seconds passed = any_ ? o.now - accounted_ : 0;
  any_ = true;
  accounted_ = o.now;
  if (!(passed > 0)) return;
  std::map<JobIndex, std::int32_t> partner_runs_in;
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (o.partner_of(row) != kAlone) partner_runs_in[o.job[At(row)]] = o.running[At(row)];
  }
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (o.running[At(row)] < 0) continue;
    const JobIndex partner = o.partner_of(row);
    if (partner != kAlone && partner < o.job[At(row)]) continue;  // the pair's entry is the other's
    Key key{o.job[At(row)], partner, OfAnySpan(*o.table[At(row)], o.running[At(row)])};
    if (partner != kAlone) key.partner_configuration = partner_runs_in[partner];
    entries_[key].received += passed;
  }
}

void Rounds::Aim(const Observation& o, std::span<const TimeShare> targets) {
  std::map<Key, Entry> aimed;
  // So that nobody's first share counts as infinitely far behind.
  const Seconds head_start = o.interval / 2;
  for (const TimeShare& target : targets) {
    if (!(target.share >= kLeast)) continue;
    Key key{o.job[At(target.row)], kAlone,
            OfAnySpan(*o.table[At(target.row)], target.configuration)};
    if (target.partner_row >= 0) {
      key.partner = o.job[At(target.partner_row)];
      key.partner_configuration = target.partner_configuration;
      if (key.partner < key.job) {
        std::swap(key.job, key.partner);
        std::swap(key.configuration, key.partner_configuration);
      }
    }
    Entry& entry = aimed[key];
    entry.share += target.share;
    entry.received = head_start;
    if (const auto before = entries_.find(key); before != entries_.end()) {
      const Entry& old = before->second;
      entry.deficit = old.deficit + old.share * (o.now - aimed_) - (old.received - head_start);
    }
  }
  entries_ = std::move(aimed);
  aimed_ = o.now;
}

bool Rounds::Take(const Observation& o, const Candidate& candidate, std::vector<Given>* given) {
  const Key& key = candidate.key;
  const auto row = row_of_.find(key.job);
  if (row == row_of_.end()) return false;
  const Configuration& c = (*o.table[At(row->second)])[key.configuration];
  Resources demand = c.demand;
  Given gives{row->second, key.configuration, static_cast<float>(candidate.share)};
  if (key.partner != kAlone) {
    const auto other = row_of_.find(key.partner);
    if (other == row_of_.end()) return false;
    // One set of GPUs, but what else both need.
    Resources more = (*o.table[At(other->second)])[key.partner_configuration].demand;
    more.gpus = 0;
    demand += more;
    gives.partner_row = other->second;
    gives.partner_configuration = key.partner_configuration;
    if (!demand.FitsIn(left_[At(c.gpu_type)])) return false;
    row_of_.erase(other);
  } else if (!demand.FitsIn(left_[At(c.gpu_type)])) {
    return false;
  }
  row_of_.erase(key.job);
  left_[At(c.gpu_type)] -= demand;
  given->push_back(gives);
  return true;
}

void Rounds::FillType(const Observation& o, GpuTypeIndex type, std::vector<Given>* given) {
  candidates_.clear();
  for (const auto& [key, entry] : entries_) {
    const auto row = row_of_.find(key.job);
    if (row == row_of_.end() || !(entry.share >= kLeast)) continue;
    if ((*o.table[At(row->second)])[key.configuration].gpu_type != type) continue;
    candidates_.push_back({entry.received / entry.share, entry.deficit, entry.share, key, type});
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.order, -a.deficit, -a.share, a.key) <
           std::tuple(b.order, -b.deficit, -b.share, b.key);
  });
  for (const Candidate& candidate : candidates_) Take(o, candidate, given);
}

void Rounds::FillWhatIsLeft(const Observation& o, std::span<const std::int32_t> rows,
                            std::vector<Given>* given) {
  candidates_.clear();
  for (const std::int32_t row : rows) {
    if (!row_of_.contains(o.job[At(row)])) continue;
    const ConfigurationTable& table = *o.table[At(row)];
    double best = 0;
    const std::size_t first = candidates_.size();
    for (const GpuTypeIndex type : table.types()) {
      const std::int32_t c = table.OnType(o.requested[At(row)], type);
      if (c < 0 || !(table[c].rate > 0)) continue;
      best = std::max(best, table[c].rate);
      const Key key{o.job[At(row)], kAlone, c};
      const auto entry = entries_.find(key);
      const double share = entry == entries_.end() ? 0.0 : entry->second.share;
      candidates_.push_back({-table[c].rate, 0, share, key, type});
    }
    for (std::size_t i = first; i < candidates_.size(); ++i) candidates_[i].order /= best;
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.order, a.key) < std::tuple(b.order, b.key);
  });
  for (const Candidate& candidate : candidates_) Take(o, candidate, given);
}

void Rounds::Fill(const Observation& o, std::span<const std::int32_t> rows,
                  std::vector<Given>* given) {
  row_of_.clear();
  for (const std::int32_t row : rows) row_of_[o.job[At(row)]] = row;
  left_.clear();
  for (GpuTypeIndex type = 0; At(type) < o.cluster->types().size(); ++type) {
    left_.push_back(o.cluster->total_of(type));
  }
  for (GpuTypeIndex type = 0; At(type) < left_.size(); ++type) FillType(o, type, given);
  FillWhatIsLeft(o, rows, given);
}

}  // namespace allot
