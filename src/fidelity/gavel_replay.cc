#include "fidelity/gavel_replay.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/index.h"

namespace allot {

void RecordedSharing::Share(const Observation& o, std::span<const std::int32_t> rows,
                            std::vector<TimeShare>* shares) {
  const std::size_t call = asked_++;
  if (call >= calls_.size()) return;
  if (calls_[call].time != o.now && late_.empty()) {
    late_ =
        fmt::format("call {} at {} s at the peer, at {} s here", call, calls_[call].time, o.now);
  }
  row_of_.assign(row_of_.size(), -1);
  for (const std::int32_t row : rows) {
    const std::size_t job = At(o.job[At(row)]);
    if (row_of_.size() <= job) row_of_.resize(job + 1, -1);
    row_of_[job] = row;
  }
  for (const GavelCall::Part& part : calls_[call].parts) {
    if (part.x != 0) Add(o, part, shares);
  }
}

std::int32_t RecordedSharing::RowOf(JobIndex job) const {
  return At(job) < row_of_.size() ? row_of_[At(job)] : -1;
}

// What cannot run gets nothing at the peer either, whatever its share.
void RecordedSharing::Add(const Observation& o, const GavelCall::Part& part,
                          std::vector<TimeShare>* shares) const {
  const auto& names = o.cluster->types();
  const auto name = std::find(names.begin(), names.end(), part.gpu_type);
  const std::int32_t row = RowOf(part.key.first);
  if (row < 0 || name == names.end()) return;
  const auto type = static_cast<GpuTypeIndex>(name - names.begin());
  const auto units = [&o](std::int32_t r) { return (*o.table[At(r)])[o.requested[At(r)]].units; };
  if (part.key.second < 0) {
    const std::int32_t c = o.table[At(row)]->Find(units(row), type);
    if (c >= 0) shares->push_back({row, c, part.x});
    return;
  }
  const std::int32_t other = RowOf(part.key.second);
  if (other < 0) return;
  const auto beside = [&](std::int32_t r, std::int32_t with) {
    const auto& partners = o.table[At(r)]->partners();
    const auto p = std::find(partners.begin(), partners.end(), o.table[At(with)]->name());
    if (p == partners.end()) return -1;
    return o.table[At(r)]->Find(
        ConfigurationKey(units(r), type, Span{}, static_cast<std::int16_t>(p - partners.begin())));
  };
  const std::int32_t c = beside(row, other);
  const std::int32_t d = beside(other, row);
  if (c >= 0 && d >= 0) shares->push_back({row, c, part.x, other, d});
}

RoundLog::RoundLog(const ClusterSpec& cluster) {
  std::int32_t gpus = 0;
  for (const Node& node : cluster.nodes()) {
    first_.push_back(gpus);
    gpus += node.capacity.gpus;
  }
}

void RoundLog::OnDecision(const Observation& o, const Allocation& allocation) {
  const std::size_t begin = rows_.size();
  for (const Allocation::Entry& entry : allocation.entries()) {
    if (entry.partner != kAlone && entry.partner < entry.job) continue;
    GavelPlacement row{rounds_, o.now, {entry.job, entry.partner}, "", {}};
    for (const NodeShare& share : allocation.shares(entry)) {
      const Node& node = o.cluster->nodes()[At(share.node)];
      row.gpu_type = o.cluster->types()[At(node.type)];
      for (GpuCount gpu = 0; gpu < node.capacity.gpus; ++gpu) {
        if ((share.gpus >> gpu & 1U) != 0) row.workers.push_back(first_[At(share.node)] + gpu);
      }
    }
    rows_.push_back(std::move(row));
  }
  const std::set<JobIndex> active(o.job.begin(), o.job.end());
  for (std::size_t i = previous_; i < begin; ++i) {
    const GavelPlacement& before = rows_[i];
    const auto& [job, partner] = before.key;
    if (active.contains(job) || (partner != kAlone && active.contains(partner))) ++chances_;
    const auto same = [&before](const GavelPlacement& now) {
      return now.key == before.key && now.workers == before.workers;
    };
    const auto from = rows_.begin() + static_cast<std::ptrdiff_t>(begin);
    if (std::any_of(from, rows_.end(), same)) ++extended_;
  }
  previous_ = begin;
  ++rounds_;
}

}  // namespace allot
