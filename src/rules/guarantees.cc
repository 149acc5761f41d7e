#include "rules/guarantees.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

constexpr GpuTypeIndex kNoSuchType = std::numeric_limits<GpuTypeIndex>::max();

bool MayRunIn(const ConfigurationTable& table, std::int32_t index) {
  const Configuration& c = table[index];
  return c.rate > 0 && c.partner == kNoPartner && table.Allocatable(index);
}

}  // namespace

Guarantees::Guarantees(std::vector<Guarantee> guarantees) {
  for (Guarantee& guarantee : guarantees) {
    accounts_.emplace_back().guarantee = std::move(guarantee);
  }
}

bool Guarantees::Enforce(const Observation& o, std::span<const std::int32_t> owner,
                         std::span<const GpuCount> hidden, const Allocation& answer) {
  o_ = &o;
  owner_ = owner;
  changed_ = false;
  const std::vector<std::string>& types = o.cluster->types();
  for (Account& account : accounts_) {
    account.rows.clear();
    account.type = -1;
    if (account.guarantee.gpu_type.empty()) continue;
    const auto type = std::find(types.begin(), types.end(), account.guarantee.gpu_type);
    account.type =
        type == types.end() ? kNoSuchType : static_cast<GpuTypeIndex>(type - types.begin());
  }
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    if (owner[At(row)] >= 0) accounts_[At(owner[At(row)])].rows.push_back(row);
  }
  if (!Load(answer)) return false;
  for (std::size_t g = 0; g < accounts_.size(); ++g) Plan(g, hidden[g]);
  for (std::size_t g = 0; g < accounts_.size(); ++g) Serve(g);
  if (changed_) Write(answer);
  return changed_;
}

// False while the answer gives a job GPUs that the cluster no longer has.
bool Guarantees::Load(const Allocation& answer) {
  const Observation& o = *o_;
  state_.given.assign(o.job.size(), {});
  state_.free.Reset(*o.cluster);
  state_.use.assign(accounts_.size(), 0);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t job = At(o.job[At(row)]);
    if (job >= row_of_job_.size()) row_of_job_.resize(job + 1);
    row_of_job_[job] = row;
  }
  for (const Allocation::Entry& entry : answer.entries()) {
    const std::int32_t row = row_of_job_[At(entry.job)];
    const auto shares = answer.shares(entry);
    if (!Take(row, entry.configuration, {shares.begin(), shares.end()})) return false;
    state_.given[At(row)].entry = entry;
  }
  return true;
}

// Finds what each job of the account is entitled to.
void Guarantees::Plan(std::size_t guarantee, GpuCount hidden) {
  const Observation& o = *o_;
  Account& account = accounts_[guarantee];
  std::sort(account.rows.begin(), account.rows.end(), [&o](std::int32_t a, std::int32_t b) {
    const auto key = [&o](std::int32_t row) {
      return std::tuple(-o.priority[At(row)], o.submit[At(row)], o.job[At(row)]);
    };
    return key(a) < key(b);
  });
  account.size.clear();
  account.entitled = 0;
  for (const std::int32_t row : account.rows) {
    const GpuCount asked = (*o.table[At(row)])[o.requested[At(row)]].demand.gpus;
    const GpuCount room = account.guarantee.gpus - hidden - account.entitled;
    account.size.push_back(LargestUpTo(row, std::min(asked, room), guarantee));
    account.entitled += account.size.back();
  }
}

void Guarantees::Serve(std::size_t guarantee) {
  const Account& account = accounts_[guarantee];
  for (std::size_t i = 0; i < account.rows.size(); ++i) {
    const GpuCount below = account.entitled - state_.use[guarantee];
    if (below <= 0) return;
    const std::int32_t row = account.rows[i];
    const bool counts = GpusOf(row) > 0 && Counts(guarantee, TypeOf(row));
    const GpuCount has = counts ? GpusOf(row) : 0;
    const GpuCount most = LargestUpTo(row, std::min(account.size[i], has + below), guarantee);
    if (most > has && Raise(guarantee, row, most)) changed_ = true;
  }
}

// Gives the job so many GPUs, or those that it has now.
bool Guarantees::Raise(std::size_t guarantee, std::int32_t row, GpuCount gpus) {
  const State before = state_;
  Drop(row);
  if (Restore(guarantee, row, gpus)) return true;
  for (const GpuTypeIndex type : o_->table[At(row)]->types()) {
    if (!Counts(guarantee, type)) continue;
    do {
      if (Place(row, gpus, type)) return true;
    } while (Reclaim(guarantee, type));
    state_ = before;
    Drop(row);
  }
  state_ = before;
  return false;
}

// A job that runs keeps its GPUs: jobs that the answer gave some of them lose these.
bool Guarantees::Restore(std::size_t guarantee, std::int32_t row, GpuCount most) {
  const Observation& o = *o_;
  const std::int32_t running = o.running[At(row)];
  if (running < 0 || o.partner_of(row) != kAlone) return false;
  const Configuration& held = (*o.table[At(row)])[running];
  if (held.demand.gpus != most || !Counts(guarantee, held.gpu_type)) return false;
  const auto shares = o.shares_of(row);
  const auto taken_of = [&](NodeIndex node) {
    for (const NodeShare& share : shares) {
      if (share.node == node) return share.gpus;
    }
    return std::uint64_t{0};
  };
  const State before = state_;
  for (std::int32_t other = 0; other < o.rows(); ++other) {
    if (GpusOf(other) == 0) continue;
    std::vector<NodeShare> left = state_.given[At(other)].shares;
    GpuCount lost = 0;
    for (NodeShare& share : left) {
      const std::uint64_t gpus = share.gpus & ~taken_of(share.node);
      lost += std::popcount(share.gpus) - std::popcount(gpus);
      share = {share.node, UnitCounts(std::popcount(gpus)), gpus};
    }
    if (lost == 0) continue;
    if (!MayLose(guarantee, other, lost)) {
      state_ = before;
      return false;
    }
    std::erase_if(left, [](const NodeShare& share) { return share.gpus == 0; });
    Cut(other, std::move(left));
  }
  if (Take(row, running, {shares.begin(), shares.end()})) return true;
  state_ = before;
  return false;
}

// Chooses the node that the job fills best, or else as few nodes as possible.
bool Guarantees::Place(std::int32_t row, GpuCount gpus, GpuTypeIndex type) {
  const ConfigurationTable& table = *o_->table[At(row)];
  const Resources& unit = table.kinds().front().demand;
  const std::vector<Node>& nodes = o_->cluster->nodes();
  struct Room {
    NodeIndex node;
    GpuCount gpus;
  };
  std::vector<Room> rooms;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto node = static_cast<NodeIndex>(n);
    const GpuCount most = nodes[n].type == type ? state_.free.Capacity(node, unit, gpus) : 0;
    if (most > 0) rooms.push_back({node, most});
  }
  std::stable_sort(rooms.begin(), rooms.end(), [&](const Room& a, const Room& b) {
    if (a.gpus != b.gpus) return a.gpus > b.gpus;
    return state_.free.free_gpus(a.node) < state_.free.free_gpus(b.node);
  });
  std::vector<Room> chosen;
  GpuCount left = gpus;
  for (const Room& room : rooms) {
    if (left == 0) break;
    chosen.push_back({room.node, std::min(left, room.gpus)});
    left -= chosen.back().gpus;
  }
  const std::int32_t found = left > 0 ? -1 : table.Find(UnitCounts(gpus), type, chosen.size());
  if (found < 0 || !MayRunIn(table, found)) return false;
  std::vector<NodeShare> shares;
  for (const Room& room : chosen) {
    const Resources demand = unit * room.gpus;
    const std::uint64_t mask = state_.free.Take(room.node, demand);
    state_.free.Release(room.node, mask, demand);
    shares.push_back({room.node, UnitCounts(room.gpus), mask});
  }
  std::sort(shares.begin(), shares.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return Take(row, found, std::move(shares));
}

// Makes one job of the type smaller, or else stops one; false: there is none.
bool Guarantees::Reclaim(std::size_t guarantee, GpuTypeIndex type) {
  const Observation& o = *o_;
  std::int32_t victim = -1;
  GpuCount victim_left = 0;
  const auto key = [&o](std::int32_t row, GpuCount left) {
    const std::size_t r = At(row);
    return std::tuple(left == 0, o.running[r] >= 0, o.priority[r], o.attained_gpu_seconds[r],
                      -o.job[r]);
  };
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const GpuCount gpus = GpusOf(row);
    if (gpus == 0 || TypeOf(row) != type) continue;
    GpuCount left = 0;
    for (std::int32_t c = 0; c < o.table[At(row)]->size(); ++c) {
      const Configuration& smaller = (*o.table[At(row)])[c];
      const bool fits = smaller.gpu_type == type && smaller.demand.gpus < gpus;
      if (fits && MayRunIn(*o.table[At(row)], c)) left = std::max(left, smaller.demand.gpus);
    }
    if (!MayLose(guarantee, row, gpus - left)) continue;
    if (victim < 0 || key(row, left) < key(victim, victim_left)) {
      victim = row;
      victim_left = left;
    }
  }
  if (victim < 0) return false;
  std::vector<NodeShare> left = state_.given[At(victim)].shares;
  for (GpuCount drop = GpusOf(victim) - victim_left; drop > 0; --drop) {
    NodeShare& last = left.back();
    const std::uint64_t gpus = last.gpus & (last.gpus - 1);
    last = {last.node, UnitCounts(std::popcount(gpus)), gpus};
    if (gpus == 0) left.pop_back();
  }
  Cut(victim, std::move(left));
  return true;
}

// True for jobs without a guarantee, and of accounts that are above theirs by so much.
bool Guarantees::MayLose(std::size_t guarantee, std::int32_t row, GpuCount gpus) const {
  const std::int32_t owner = owner_[At(row)];
  if (owner < 0) return true;
  if (At(owner) == guarantee) return false;
  return !Counts(At(owner), TypeOf(row)) ||
         state_.use[At(owner)] - gpus >= accounts_[At(owner)].entitled;
}

// Leaves the job these GPUs, or as many of them as it has a size for.
void Guarantees::Cut(std::int32_t row, std::vector<NodeShare> left) {
  const ConfigurationTable& table = *o_->table[At(row)];
  const GpuTypeIndex type = TypeOf(row);
  Drop(row);
  GpuCount gpus = 0;
  for (const NodeShare& share : left) gpus += share.units.of(0);
  for (; gpus > 0; --gpus) {
    const std::int32_t size = table.Find(UnitCounts(gpus), type, left.size());
    if (size >= 0 && MayRunIn(table, size)) {
      ALLOT_CHECK(Take(row, size, std::move(left)));
      return;
    }
    NodeShare& last = left.back();
    const std::uint64_t fewer = last.gpus & (last.gpus - 1);
    last = {last.node, UnitCounts(std::popcount(fewer)), fewer};
    if (fewer == 0) left.pop_back();
  }
}

void Guarantees::Drop(std::int32_t row) {
  Given& given = state_.given[At(row)];
  if (given.entry.configuration < 0) return;
  const auto& kinds = o_->table[At(row)]->kinds();
  for (const NodeShare& share : given.shares) {
    state_.free.Release(share.node, share.gpus, DemandOf(kinds, share.units));
  }
  Count(row, -1);
  given = {};
}

bool Guarantees::Take(std::int32_t row, std::int32_t configuration, std::vector<NodeShare> shares) {
  const auto& kinds = o_->table[At(row)]->kinds();
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const NodeShare& share = shares[s];
    if (state_.free.TakeExactly(share.node, share.gpus, DemandOf(kinds, share.units))) continue;
    while (s-- > 0) {
      state_.free.Release(shares[s].node, shares[s].gpus, DemandOf(kinds, shares[s].units));
    }
    return false;
  }
  Given& given = state_.given[At(row)];
  given.entry = {.job = o_->job[At(row)], .configuration = configuration};
  given.shares = std::move(shares);
  Count(row, 1);
  return true;
}

GpuCount Guarantees::GpusOf(std::int32_t row) const {
  const std::int32_t configuration = state_.given[At(row)].entry.configuration;
  return configuration < 0 ? 0 : (*o_->table[At(row)])[configuration].demand.gpus;
}

GpuTypeIndex Guarantees::TypeOf(std::int32_t row) const {
  return (*o_->table[At(row)])[state_.given[At(row)].entry.configuration].gpu_type;
}

bool Guarantees::Counts(std::size_t guarantee, GpuTypeIndex type) const {
  return accounts_[guarantee].type < 0 || accounts_[guarantee].type == type;
}

void Guarantees::Count(std::int32_t row, int sign) {
  const std::int32_t owner = owner_[At(row)];
  if (owner >= 0 && Counts(At(owner), TypeOf(row))) state_.use[At(owner)] += sign * GpusOf(row);
}

GpuCount Guarantees::LargestUpTo(std::int32_t row, GpuCount gpus, std::size_t guarantee) const {
  const ConfigurationTable& table = *o_->table[At(row)];
  GpuCount largest = 0;
  if (table.kinds().size() > 1) return largest;  // workers and servers have no one size
  for (std::int32_t c = 0; c < table.size(); ++c) {
    const GpuCount size = table[c].demand.gpus;
    if (size > gpus || size <= largest || !Counts(guarantee, table[c].gpu_type)) continue;
    if (MayRunIn(table, c)) largest = size;
  }
  return largest;
}

void Guarantees::Write(const Allocation& answer) {
  enforced_.Clear();
  if (answer.requested_batches()) enforced_.KeepRequestedBatches();
  for (const Given& given : state_.given) {
    if (given.entry.configuration < 0) continue;
    enforced_.Add(given.entry.job, given.entry.configuration, given.shares, given.entry.relaunch);
    enforced_.SetShare(enforced_.entries().size() - 1, given.entry.share);
  }
}

}  // namespace allot
