#include "rules/entitlements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/index.h"

namespace allot {
namespace {

constexpr GpuTypeIndex kNoSuchType = std::numeric_limits<GpuTypeIndex>::max();

// Of a share: who has as much of it, and loses nothing that runs, waits for the rest until others
// give it. Shares change by a GPU whenever jobs come and end, and each change would cost restarts.
constexpr double kEnough = .8;
// Jobs of a claim for which there was no room, before no more are tried.
constexpr int kMostFailed = 4;

bool MayRunIn(const ConfigurationTable& table, std::int32_t index) {
  const Configuration& c = table[index];
  return c.rate > 0 && c.partner == kNoPartner && table.Allocatable(index);
}

bool Counts(GpuTypeIndex wanted, GpuTypeIndex type) { return wanted < 0 || wanted == type; }

GpuTypeIndex TypeNamed(const std::string& name, const std::vector<std::string>& types) {
  if (name.empty()) return -1;
  const auto type = std::find(types.begin(), types.end(), name);
  return type == types.end() ? kNoSuchType : static_cast<GpuTypeIndex>(type - types.begin());
}

// The node allocation without its last GPU.
void DropLast(std::vector<NodeShare>* shares) {
  NodeShare& last = shares->back();
  const std::uint64_t fewer = last.gpus & (last.gpus - 1);
  last = {last.node, UnitCounts(std::popcount(fewer)), fewer};
  if (fewer == 0) shares->pop_back();
}

}  // namespace

Corrections::Reason Entitlements::Enforce(const Observation& o, const Basis& basis,
                                          const Allocation& answer) {
  using Reason = Corrections::Reason;
  o_ = &o;
  asked_of_row_ = basis.asked_of_row;
  FindClaims(basis);
  FindRows(basis);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const std::size_t job = At(o.job[At(row)]);
    if (job >= row_of_job_.size()) row_of_job_.resize(job + 1);
    row_of_job_[job] = row;
  }
  const auto all_met = [this] {
    return std::ranges::all_of(claims_, [](const Claim& claim) { return claim.met(); });
  };
  if (!Load(answer) || all_met()) return Reason::kNone;
  for (Claim& claim : claims_) Plan(&claim);
  GiveTurns(basis.hidden.size());
  Reason reason = Reason::kNone;
  for (std::size_t c = 0; c < claims_.size(); ++c) {
    const std::size_t before = changes_.size();
    Serve(static_cast<std::int32_t>(c));
    if (reason != Reason::kNone || changes_.size() == before) continue;
    reason = claims_[c].share == nullptr ? Reason::kGuarantees : Reason::kFairShares;
  }
  if (reason == Reason::kNone) return reason;
  KeepPlaces(answer);
  Write(answer);
  return reason;
}

void Entitlements::FindClaims(const Basis& basis) {
  claims_.clear();
  for (std::size_t g = 0; g < basis.hidden.size(); ++g) {
    claims_.push_back({.gpus = guarantees_[g].gpus - basis.hidden[g],
                       .type = TypeNamed(guarantees_[g].gpu_type, o_->cluster->types())});
  }
  for (const FairShares::Share& share : basis.shares) {
    claims_.push_back({.gpus = share.gpus - share.hidden, .share = &share});
  }
}

void Entitlements::FindRows(const Basis& basis) {
  claims_of_row_.assign(o_->job.size(), {});
  const auto shares_begin = static_cast<std::int32_t>(basis.hidden.size());
  for (std::int32_t row = 0; row < o_->rows(); ++row) {
    ClaimsOfRow& of = claims_of_row_[At(row)];
    of.guarantee = basis.guarantee_of_row[At(row)];
    if (!basis.shares.empty()) of.share = shares_begin + basis.share_of_row[At(row)];
    for (const std::int32_t claim : {of.guarantee, of.share}) {
      if (claim < 0) continue;
      claims_[At(claim)].rows.push_back(row);
      claims_[At(claim)].demand += AskedBy(row, claims_[At(claim)]);
    }
  }
}

// False while the answer gives a job GPUs that the cluster no longer has.
bool Entitlements::Load(const Allocation& answer) {
  given_.assign(o_->job.size(), {});
  free_.Reset(*o_->cluster);
  for (const Allocation::Entry& entry : answer.entries()) {
    const std::int32_t row = row_of_job_[At(entry.job)];
    const auto shares = answer.shares(entry);
    if (!Take(row, entry.configuration, {shares.begin(), shares.end()})) return false;
    given_[At(row)].entry = entry;
  }
  changes_.clear();
  return true;
}

// Finds what each job of the claim is entitled to.
void Entitlements::Plan(Claim* claim) {
  const Observation& o = *o_;
  std::sort(claim->rows.begin(), claim->rows.end(), [&o](std::int32_t a, std::int32_t b) {
    const auto key = [&o](std::int32_t row) {
      return std::tuple(-o.priority[At(row)], o.running[At(row)] < 0, o.submit[At(row)],
                        o.job[At(row)]);
    };
    return key(a) < key(b);
  });
  std::vector<GpuCount> left_of_type;
  if (claim->share != nullptr) left_of_type = claim->share->of_type;
  for (const std::int32_t row : claim->rows) {
    GpuCount room = claim->gpus - claim->entitled;
    if (room <= 0) break;
    const std::vector<GpuTypeIndex>& types = o.table[At(row)]->types();
    GpuCount* const of_type =
        left_of_type.empty() || types.size() != 1 ? nullptr : &left_of_type[At(types.front())];
    if (of_type != nullptr) room = std::min(room, *of_type);
    const GpuCount size = LargestUpTo(row, std::min(AskedBy(row, *claim), room), claim->type);
    if (of_type != nullptr) *of_type -= size;
    claim->size.push_back(size);
    claim->entitled += size;
  }
}

// For users of whose jobs the next one does not fit into what is left of their share.
void Entitlements::GiveTurns(std::size_t guarantees) {
  GpuCount spare = 0;
  for (std::size_t c = guarantees; c < claims_.size(); ++c) {
    spare += claims_[c].gpus - claims_[c].entitled;
  }
  for (std::size_t c = guarantees; spare > 0 && c < claims_.size(); ++c) {
    const Claim& claim = claims_[c];
    if (claim.entitled >= claim.gpus) continue;
    for (std::size_t r = 0; r < claim.size.size(); ++r) {
      if (GiveTurn(c, r, &spare)) break;
    }
  }
}

// The job at this position of the claim gets its next size: of what shares leave, and of users who
// have used more.
bool Entitlements::GiveTurn(std::size_t claim, std::size_t position, GpuCount* spare) {
  Claim& turn = claims_[claim];
  const std::int32_t row = turn.rows[position];
  const GpuCount next = NextSize(row, turn.size[position]);
  if (next == 0) return false;
  const GpuCount needed = next - turn.size[position];
  std::size_t giving = claims_.size();  // this claim and later ones, as far as needed
  GpuCount found = *spare;
  while (found < needed && giving > claim + 1 &&
         FairShares::IsTurnOf(*turn.share, *claims_[giving - 1].share, needed - *spare)) {
    found += claims_[--giving].entitled;
  }
  if (found < needed) return false;
  found = *spare;
  for (std::size_t c = claims_.size(); c-- > giving;) found += Shrink(&claims_[c], needed - found);
  *spare = found - needed;
  turn.size[position] = next;
  turn.entitled += needed;
  return true;
}

// Entitles the claim's last jobs to less, until it gives so many GPUs or has none. Returns how
// many.
GpuCount Entitlements::Shrink(Claim* claim, GpuCount gpus) const {
  GpuCount found = 0;
  for (std::size_t r = claim->size.size(); found < gpus && r-- > 0;) {
    GpuCount& size = claim->size[r];
    const GpuCount left = LargestUpTo(claim->rows[r], std::max(0, size - (gpus - found)), -1);
    found += size - left;
    size = left;
  }
  claim->entitled -= found;
  return found;
}

void Entitlements::Serve(std::int32_t claim) {
  served_ = claim;
  KeepRunning();
  const Claim& served = claims_[At(claim)];
  GpuCount present = 0;
  for (const std::int32_t row : served.rows) present += PresentGpusOf(row);
  const bool loses = served.use < std::min(present, served.entitled);
  const bool guarantee = served.share == nullptr;
  if (!guarantee && !loses && served.use >= kEnough * served.entitled) return;
  int failed = 0;
  for (const std::int32_t row : served.rows) {
    const GpuCount below = served.entitled - served.use;
    if (below <= 0 || failed == kMostFailed) return;
    const bool counts = GpusOf(row) > 0 && Counts(served.type, TypeOf(row));
    const GpuCount has = counts ? GpusOf(row) : 0;
    const GpuCount most =
        LargestUpTo(row, std::min(AskedBy(row, served), has + below), served.type);
    if (most > has && !Raise(row, most)) ++failed;
  }
}

// Jobs of the served claim that run keep what they have, as long as it is a part of the claim: that
// costs them nothing.
void Entitlements::KeepRunning() {
  const Claim& served = claims_[At(served_)];
  for (const std::int32_t row : served.rows) {
    const GpuCount below = served.entitled - served.use;
    if (below <= 0) return;
    const GpuCount present = PresentGpusOf(row);
    const GpuCount has = GpusOf(row);
    if (present <= has || present > has + below) continue;
    const GpuTypeIndex type = (*o_->table[At(row)])[o_->running[At(row)]].gpu_type;
    if (Counts(served.type, type)) Raise(row, present);
  }
}

// Gives the job so many GPUs, or those that it has now.
bool Entitlements::Raise(std::int32_t row, GpuCount gpus) {
  served_row_ = row;
  const std::size_t before = changes_.size();
  Drop(row);
  const GpuTypeIndex wanted = claims_[At(served_)].type;
  const std::int32_t running = o_->running[At(row)];
  if (PresentGpusOf(row) == gpus && Counts(wanted, (*o_->table[At(row)])[running].gpu_type) &&
      Restore(row)) {
    ReturnUnneeded(before);
    return true;
  }
  for (const GpuTypeIndex type : o_->table[At(row)]->types()) {
    if (!Counts(wanted, type)) continue;
    if (PlaceOrReclaim(row, gpus, type)) {
      ReturnUnneeded(before);
      return true;
    }
    Undo(before);
    Drop(row);
  }
  Undo(before);
  return false;
}

// A running job that was dropped gets its present GPUs again. Others give as many, and jobs to
// which the answer gave some of these get others.
bool Entitlements::Restore(std::int32_t row) {
  const Observation& o = *o_;
  if (o.partner_of(row) != kAlone) return false;
  const std::int32_t running = o.running[At(row)];
  const Configuration& present = (*o.table[At(row)])[running];
  const auto shares = o.shares_of(row);
  const auto overlaps = [&](const NodeShare& other) {
    return std::ranges::any_of(shares, [&](const NodeShare& own) {
      return own.node == other.node && (own.gpus & other.gpus) != 0;
    });
  };
  const std::size_t before = changes_.size();
  bool restored = true;
  while (restored && free_.total_free(present.gpu_type).gpus < present.demand.gpus) {
    restored = Reclaim(present.gpu_type);
  }
  struct Displaced {
    std::int32_t row;
    GpuCount gpus;
  };
  std::vector<Displaced> displaced;
  for (std::int32_t other = 0; other < o.rows(); ++other) {
    if (std::ranges::none_of(given_[At(other)].shares, overlaps)) continue;
    displaced.push_back({other, GpusOf(other)});
    Drop(other);
  }
  restored = restored && Take(row, running, {shares.begin(), shares.end()}) &&
             std::ranges::all_of(displaced, [&](const Displaced& other) {
               return PlaceUpTo(other.row, other.gpus, present.gpu_type);
             });
  if (!restored) Undo(before);
  return restored;
}

// So many GPUs, those that it has now if they are as many, or as many as there is room for; false:
// it may not have less.
bool Entitlements::PlaceUpTo(std::int32_t row, GpuCount most, GpuTypeIndex type) {
  const std::int32_t running = o_->running[At(row)];
  const auto present = o_->shares_of(row);
  if (PresentGpusOf(row) == most && (*o_->table[At(row)])[running].gpu_type == type &&
      Take(row, running, {present.begin(), present.end()})) {
    return true;
  }
  GpuCount gpus = most;
  while (gpus > 0 && !Place(row, gpus, type)) gpus = LargestUpTo(row, gpus - 1, type);
  return gpus == most || MayLose(row, 0);
}

// Jobs that the answer would resize, and that keep their size, keep their GPUs.
void Entitlements::KeepPlaces(const Allocation& answer) {
  std::vector<GpuCount> answered(o_->job.size(), 0);
  for (const Allocation::Entry& entry : answer.entries()) {
    const std::size_t row = At(row_of_job_[At(entry.job)]);
    answered[row] = (*o_->table[row])[entry.configuration].demand.gpus;
  }
  served_ = kNoClaim;
  for (std::int32_t row = 0; row < o_->rows(); ++row) {
    const GpuCount gpus = GpusOf(row);
    if (gpus == 0 || gpus != PresentGpusOf(row) || gpus == answered[At(row)]) continue;
    if (TypeOf(row) != (*o_->table[At(row)])[o_->running[At(row)]].gpu_type) continue;
    served_row_ = row;
    const std::size_t before = changes_.size();
    Drop(row);
    if (!Restore(row)) Undo(before);
  }
}

bool Entitlements::PlaceOrReclaim(std::int32_t row, GpuCount gpus, GpuTypeIndex type) {
  do {
    if (Place(row, gpus, type)) return true;
  } while (Reclaim(type));
  return false;
}

// Chooses the node that the job fills best, or else as few nodes as possible.
bool Entitlements::Place(std::int32_t row, GpuCount gpus, GpuTypeIndex type) {
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
    const GpuCount most = nodes[n].type == type ? free_.Capacity(node, unit, gpus) : 0;
    if (most > 0) rooms.push_back({node, most});
  }
  std::stable_sort(rooms.begin(), rooms.end(), [&](const Room& a, const Room& b) {
    if (a.gpus != b.gpus) return a.gpus > b.gpus;
    return free_.free_gpus(a.node) < free_.free_gpus(b.node);
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
    const std::uint64_t mask = free_.Take(room.node, demand);
    free_.Release(room.node, mask, demand);
    shares.push_back({room.node, UnitCounts(room.gpus), mask});
  }
  std::sort(shares.begin(), shares.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  return Take(row, found, std::move(shares));
}

// Takes one size from one job of the type; false: there is none that may lose it. What running jobs
// would gain goes first, because that changes nothing for them. Then those with most service lose
// theirs: what they lose is least of what they had, and short jobs do not wait. Service counts in
// doublings, so that two jobs with as much do not take turns.
bool Entitlements::Reclaim(GpuTypeIndex type) {
  const Observation& o = *o_;
  std::int32_t victim = -1;
  GpuCount victim_left = 0;
  const auto key = [this, &o](std::int32_t row) {
    const std::size_t r = At(row);
    const GpuCount present = PresentGpusOf(row);
    const bool grows = present > 0 && GpusOf(row) > present;
    const int doublings = std::ilogb(std::max(1.0, o.attained_gpu_seconds[r]));
    return std::tuple(!grows, o.priority[r], -doublings, present > 0, -o.job[r]);
  };
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    const GpuCount gpus = GpusOf(row);
    if (gpus == 0 || TypeOf(row) != type) continue;
    const GpuCount left = LargestUpTo(row, gpus - 1, type);
    if (!MayLose(row, gpus - left)) continue;
    if (victim < 0 || key(row) < key(victim)) {
      victim = row;
      victim_left = left;
    }
  }
  if (victim < 0) return false;
  std::vector<NodeShare> left = given_[At(victim)].shares;
  for (GpuCount drop = GpusOf(victim) - victim_left; drop > 0; --drop) DropLast(&left);
  Cut(victim, std::move(left));
  return true;
}

// True unless a claim of the job would have less than it entitles to, or is served itself.
// Guarantees come before fair shares, so these do not protect from them.
bool Entitlements::MayLose(std::int32_t row, GpuCount gpus) const {
  const bool serves_share = served_ == kNoClaim || claims_[At(served_)].share != nullptr;
  const ClaimsOfRow& of = claims_of_row_[At(row)];
  const ClaimsOfRow& to = claims_of_row_[At(served_row_)];
  if (served_ == of.guarantee || served_ == of.share) return false;
  const auto keeps = [&](std::int32_t claim) {
    if (claim < 0) return true;
    const Claim& c = claims_[At(claim)];
    return !Counts(c.type, TypeOf(row)) || c.use - gpus >= c.entitled;
  };
  // What moves within an account stays in its guarantee.
  if (to.guarantee != of.guarantee && !keeps(of.guarantee)) return false;
  return !serves_share || keeps(of.share);
}

// Leaves the job these GPUs, or as many of them as it has a size for.
void Entitlements::Cut(std::int32_t row, std::vector<NodeShare> left) {
  const ConfigurationTable& table = *o_->table[At(row)];
  const GpuTypeIndex type = TypeOf(row);
  Drop(row);
  GpuCount gpus = 0;
  for (const NodeShare& share : left) gpus += share.units.of(0);
  // If it is as much as the job has now, it keeps that.
  const std::int32_t running = o_->running[At(row)];
  if (gpus == PresentGpusOf(row) && running >= 0 && table[running].gpu_type == type) {
    const auto present = o_->shares_of(row);
    if (Take(row, running, {present.begin(), present.end()})) return;
  }
  for (; gpus > 0; --gpus, DropLast(&left)) {
    const std::int32_t size = table.Find(UnitCounts(gpus), type, left.size());
    if (size < 0 || !MayRunIn(table, size)) continue;
    ALLOT_CHECK(Take(row, size, std::move(left)));
    return;
  }
}

void Entitlements::Drop(std::int32_t row) {
  Given& given = given_[At(row)];
  if (given.entry.configuration < 0) return;
  const auto& kinds = o_->table[At(row)]->kinds();
  for (const NodeShare& share : given.shares) {
    free_.Release(share.node, share.gpus, DemandOf(kinds, share.units));
  }
  Count(row, -1);
  changes_.emplace_back(row, std::exchange(given, {}));
}

bool Entitlements::Take(std::int32_t row, std::int32_t configuration,
                        std::vector<NodeShare> shares) {
  const auto& kinds = o_->table[At(row)]->kinds();
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const NodeShare& share = shares[s];
    if (free_.TakeExactly(share.node, share.gpus, DemandOf(kinds, share.units))) continue;
    while (s-- > 0) {
      free_.Release(shares[s].node, shares[s].gpus, DemandOf(kinds, shares[s].units));
    }
    return false;
  }
  Given& given = given_[At(row)];
  given.entry = {.job = o_->job[At(row)], .configuration = configuration};
  given.shares = std::move(shares);
  Count(row, 1);
  changes_.emplace_back(row, Given{});
  return true;
}

// Undoes all but the first so many changes.
void Entitlements::Undo(std::size_t changes) {
  while (changes_.size() > changes) {
    auto [row, before] = std::move(changes_.back());
    changes_.pop_back();
    if (before.entry.configuration < 0) {
      Drop(row);
    } else {
      ALLOT_CHECK(Take(row, before.entry.configuration, std::move(before.shares)));
      given_[At(row)].entry = before.entry;
    }
    changes_.pop_back();  // which undoing has added
  }
}

// Jobs that lost GPUs since then for nothing get them back: reclaiming finds room on any node.
void Entitlements::ReturnUnneeded(std::size_t changes) {
  const Changes made(changes_.begin() + static_cast<std::ptrdiff_t>(changes), changes_.end());
  std::vector<std::int32_t> returned;
  for (const auto& [row, before] : made) {
    if (row == served_row_ || before.entry.configuration < 0) continue;
    if (std::ranges::find(returned, row) != returned.end()) continue;
    const std::size_t mark = changes_.size();
    Drop(row);
    if (Take(row, before.entry.configuration, before.shares)) {
      given_[At(row)].entry = before.entry;
      returned.push_back(row);
    } else {
      Undo(mark);
    }
  }
}

GpuCount Entitlements::GpusOf(std::int32_t row) const {
  const std::int32_t configuration = given_[At(row)].entry.configuration;
  return configuration < 0 ? 0 : (*o_->table[At(row)])[configuration].demand.gpus;
}

GpuCount Entitlements::PresentGpusOf(std::int32_t row) const {
  const std::int32_t running = o_->running[At(row)];
  return running < 0 ? 0 : (*o_->table[At(row)])[running].demand.gpus;
}

GpuTypeIndex Entitlements::TypeOf(std::int32_t row) const {
  return (*o_->table[At(row)])[given_[At(row)].entry.configuration].gpu_type;
}

// A guarantee is for what jobs request.
GpuCount Entitlements::AskedBy(std::int32_t row, const Claim& claim) const {
  if (claim.share != nullptr) return asked_of_row_[At(row)];
  return (*o_->table[At(row)])[o_->requested[At(row)]].demand.gpus;
}

void Entitlements::Count(std::int32_t row, int sign) {
  const ClaimsOfRow& of = claims_of_row_[At(row)];
  for (const std::int32_t claim : {of.guarantee, of.share}) {
    if (claim < 0 || !Counts(claims_[At(claim)].type, TypeOf(row))) continue;
    claims_[At(claim)].use += sign * GpusOf(row);
  }
}

GpuCount Entitlements::LargestUpTo(std::int32_t row, GpuCount gpus, GpuTypeIndex type) const {
  const ConfigurationTable& table = *o_->table[At(row)];
  GpuCount largest = 0;
  if (table.kinds().size() > 1) return largest;  // workers and servers have no one size
  for (std::int32_t c = 0; c < table.size(); ++c) {
    const GpuCount size = table[c].demand.gpus;
    if (size > gpus || size <= largest || !Counts(type, table[c].gpu_type)) continue;
    if (MayRunIn(table, c)) largest = size;
  }
  return largest;
}

// The least size above this one that the job asks for; 0: none.
GpuCount Entitlements::NextSize(std::int32_t row, GpuCount gpus) const {
  const GpuCount most = asked_of_row_[At(row)];
  for (GpuCount next = gpus + 1; next <= most; ++next) {
    if (LargestUpTo(row, next, -1) == next) return next;
  }
  return 0;
}

void Entitlements::Write(const Allocation& answer) {
  enforced_.Clear();
  if (answer.requested_batches()) enforced_.KeepRequestedBatches();
  for (const Given& given : given_) {
    if (given.entry.configuration < 0) continue;
    enforced_.Add(given.entry.job, given.entry.configuration, given.shares, given.entry.relaunch);
    enforced_.SetShare(enforced_.entries().size() - 1, given.entry.share);
  }
}

}  // namespace allot
