// Rounds: entries, and what they received.

#include "stages/rounds/rounds.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/catalogue.h"

namespace allot {
namespace {

// The configuration with these units on the type beside a job of that profile, the fastest; -1:
// it cannot run so.
std::int32_t Beside(const ConfigurationTable& table, const UnitCounts& units, GpuTypeIndex type,
                    const std::string& other) {
  const auto& partners = table.partners();
  const auto partner = std::find(partners.begin(), partners.end(), other);
  if (partner == partners.end()) return -1;
  const auto index = static_cast<std::int16_t>(partner - partners.begin());
  const std::int32_t found = table.Find(ConfigurationKey(units, type, Span{}, index));
  return found >= 0 && table[found].rate > 0 ? found : -1;
}

// Whether a configuration is still what it was when an entry was made.
bool IsStill(const ConfigurationTable& table, std::int32_t configuration, const UnitCounts& units,
             GpuTypeIndex type) {
  if (configuration < 0 || configuration >= table.size()) return false;
  return table[configuration].units == units && table[configuration].gpu_type == type;
}

// A key of the jobs of an entry.
std::uint64_t JobsOf(JobIndex job, JobIndex partner) {
  return static_cast<std::uint64_t>(job) << 32 | static_cast<std::uint32_t>(partner);
}

// One order may serve several clusters: a type that is not here must be known elsewhere.
void CheckIsGpuType(const std::string& name, std::vector<std::string> known) {
  const std::vector<std::string>& measured = Catalogue::Embedded().gpu_types();
  if (std::find(measured.begin(), measured.end(), name) != measured.end()) return;
  for (const std::string& type : measured) {
    if (std::find(known.begin(), known.end(), type) == known.end()) known.push_back(type);
  }
  throw UsageError("'order' must name GPU types of the cluster or the catalogue ({}), got '{}'",
                   Join(known, ", "), name);
}

}  // namespace

void Rounds::OnEpisodeStart(const EpisodeContext& context) {
  constexpr std::uint64_t kSeedOffset = 5;
  random_.reset();
  if (options_.shuffle) random_.emplace(context.seed + kSeedOffset);
  types_ = 0;
  entries_.clear();
  cells_.clear();
  jobs_.clear();
  present_.clear();
  ran_.clear();
  aimed_ = now_ = round_end_ = 0;
  round_ = decision_ = -1;
  stamp_ = 0;
  failed_ = false;
}

Rounds::OfJob& Rounds::Of(JobIndex job) {
  if (jobs_.size() <= At(job)) jobs_.resize(At(job) + 1);
  return jobs_[At(job)];
}

void Rounds::FindRows(const Observation& o, std::span<const std::int32_t> rows) {
  ++stamp_;
  for (const std::int32_t row : rows) {
    OfJob& of = Of(o.job[At(row)]);
    of.row = row;
    of.seen = stamp_;
  }
}

void Rounds::Begin(const Observation& o, std::span<const std::int32_t> rows, bool changed) {
  if (types_ == 0) {
    types_ = o.cluster->types().size();
    received_.assign(types_, 0);
  }
  FindRows(o, rows);
  const bool again = round_ >= 0 && o.decision == decision_ && o.now == now_;
  if (!again) {
    // With nothing running and nobody to come, nothing is left to wait for.
    const bool stands_still = round_ >= 0 && o.now == now_ && ran_.empty();
    if (options_.reset > 0 && stands_still) aimed_ = 0;
    Book(o);
    ++round_;
  }
  now_ = o.now;
  decision_ = o.decision;
  if (changed) {
    DropEnded();
    new_rows_.clear();
    bool any_renewed = false;
    for (const std::int32_t row : rows) {
      OfJob& of = Of(o.job[At(row)]);
      const std::uint64_t table = o.table[At(row)]->fingerprint();
      of.renewed = of.entry >= 0 && of.table != table;
      of.table = table;
      any_renewed = any_renewed || of.renewed;
      if (of.entry < 0) new_rows_.push_back(row);
    }
    for (std::size_t e = 0; any_renewed && e < entries_.size(); ++e) {
      const JobIndex partner = entries_[e].partner;
      const bool its = jobs_[At(entries_[e].job)].renewed;
      if (its || (partner != kAlone && jobs_[At(partner)].renewed)) FindConfigurations(o, e);
    }
    std::sort(new_rows_.begin(), new_rows_.end(),
              [&o](std::int32_t a, std::int32_t b) { return o.job[At(a)] < o.job[At(b)]; });
    Enter(o);
  }
  if (!again) OrderTypes(o);
}

void Rounds::Book(const Observation& o) {
  failed_ = false;
  if (ran_.empty()) return;
  for (Ran& ran : ran_) {
    if (options_.by_work) {
      BookWork(o, &ran);
    } else {
      BookTime(o, &ran);
    }
  }
  if (!options_.by_work) return;
  // In the order in which the peer adds: sums are rounded alike.
  std::sort(ran_.begin(), ran_.end(), [](const Ran& a, const Ran& b) {
    if (a.end != b.end) return a.end > b.end;
    return std::tuple(a.partner != kAlone, a.job, a.partner) <
           std::tuple(b.partner != kAlone, b.job, b.partner);
  });
  for (const Ran& ran : ran_) {
    if (ran.end == kNever) continue;
    const Seconds took = ran.end - round_end_;
    CellOf(At(ran.entry), At(ran.type)).received += took;
    received_[At(ran.type)] += took;
  }
  round_end_ = o.now;
}

// The work that a job has done by now, one that has just ended too.
bool Rounds::WorkOf(const Observation& o, JobIndex job, double* done) const {
  const OfJob& of = jobs_[At(job)];
  if (of.seen == stamp_) {
    *done = o.done_work[At(of.row)];
    return true;
  }
  const auto& ended = o.events.ended;
  const auto found = std::lower_bound(ended.begin(), ended.end(), job,
                                      [](const EndedJob& e, JobIndex j) { return e.job < j; });
  if (found == ended.end() || found->job != job) return false;
  *done = found->work;
  return true;
}

void Rounds::BookWork(const Observation& o, Ran* ran) {
  ran->end = kNever;  // nothing is booked
  double done = 0;
  double partner_done = 0;
  const bool paired = ran->partner != kAlone;
  if (!WorkOf(o, ran->job, &done)) return;
  if (paired && !WorkOf(o, ran->partner, &partner_done)) return;
  done -= ran->done;
  partner_done -= ran->partner_done;
  if (!(done > 0) || (paired && !(partner_done > 0))) {
    failed_ = true;
    return;
  }
  ran->end = now_ + done / ran->rate;
  if (paired) ran->end = std::max(ran->end, now_ + partner_done / ran->partner_rate);
}

// When a job that was given something let its GPUs go: when it ended, or else `otherwise`.
Seconds Rounds::HeldUntil(const Observation& o, JobIndex job, Seconds otherwise) const {
  if (jobs_[At(job)].seen == stamp_) return otherwise;
  const auto& ended = o.events.ended;
  const auto found = std::lower_bound(ended.begin(), ended.end(), job,
                                      [](const EndedJob& e, JobIndex j) { return e.job < j; });
  return found == ended.end() || found->job != job ? otherwise : found->end;
}

void Rounds::BookTime(const Observation& o, Ran* ran) {
  const auto book = [&](std::int32_t entry, Seconds time) {
    if (!(time > 0)) return;
    CellOf(At(entry), At(ran->type)).received += time;
    received_[At(ran->type)] += time;
  };
  // In force only where the placement had room, and no node has gone.
  const OfJob& of = jobs_[At(ran->job)];
  if (of.seen == stamp_) {
    const std::int32_t running = o.running[At(of.row)];
    if (running < 0 || (*o.table[At(of.row)])[running].gpu_type != ran->type) return;
  }
  const Seconds end = HeldUntil(o, ran->job, o.now);
  if (ran->partner == kAlone) return book(ran->entry, end - now_);
  const Seconds partner_end = HeldUntil(o, ran->partner, o.now);
  const Seconds together = std::min(end, partner_end);
  book(ran->entry, together - now_);
  // Who is left has the GPUs alone.
  const JobIndex left = end > partner_end ? ran->job : ran->partner;
  if (const std::int32_t entry = jobs_[At(left)].entry; entry >= 0) {
    book(entry, std::max(end, partner_end) - together);
  }
}

template <typename Gone>
void Rounds::DropEntries(const Gone& gone) {
  std::size_t kept = 0;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (gone(e)) continue;
    if (kept != e) {
      entries_[kept] = entries_[e];
      std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(e * types_), types_,
                  cells_.begin() + static_cast<std::ptrdiff_t>(kept * types_));
    }
    const Entry& entry = entries_[kept];
    if (entry.standing && entry.partner == kAlone) {
      jobs_[At(entry.job)].entry = static_cast<std::int32_t>(kept);
    }
    ++kept;
  }
  entries_.resize(kept);
  cells_.resize(kept * types_);
}

// Those of jobs that are rows no more.
void Rounds::DropEnded() {
  const auto gone = [this](JobIndex job) { return job != kAlone && jobs_[At(job)].seen != stamp_; };
  std::erase_if(present_, [&](JobIndex job) {
    if (gone(job)) jobs_[At(job)].entry = -1;
    return gone(job);
  });
  DropEntries([&](std::size_t e) { return gone(entries_[e].job) || gone(entries_[e].partner); });
}

// Those that stand for a share only and have none.
void Rounds::DropUnused() {
  DropEntries([this](std::size_t e) {
    if (entries_[e].standing) return false;
    for (std::size_t type = 0; type < types_; ++type) {
      if (CellOf(e, type).share > 0) return false;
    }
    return true;
  });
}

std::size_t Rounds::Append(Entry entry) {
  entries_.push_back(entry);
  cells_.resize(entries_.size() * types_);
  return entries_.size() - 1;
}

// Jobs that have come: the job itself, and then the pairs with those that came before.
void Rounds::Enter(const Observation& o) {
  const Seconds head_start = o.interval / 2;
  const auto units_of = [&o](std::int32_t row) -> const Configuration& {
    return (*o.table[At(row)])[o.requested[At(row)]];
  };
  for (const std::int32_t row : new_rows_) {
    const JobIndex job = o.job[At(row)];
    const Configuration& requested = units_of(row);
    const std::size_t e = Append({.job = job, .units = requested.units, .standing = true});
    Of(job).entry = static_cast<std::int32_t>(e);
    FindConfigurations(o, e);
    for (std::size_t type = 0; type < types_; ++type) CellOf(e, type).received = head_start;
    if (options_.all_pairs) {
      for (const JobIndex other : present_) {
        const Configuration& its = units_of(Of(other).row);
        if (its.demand.gpus != requested.demand.gpus) continue;
        Entry pair{.job = other, .partner = job, .units = its.units};
        pair.partner_units = requested.units;
        pair.standing = true;
        if (job < other) {
          std::swap(pair.job, pair.partner);
          std::swap(pair.units, pair.partner_units);
        }
        FindConfigurations(o, Append(pair));
      }
    }
    present_.push_back(job);
  }
}

// Which configurations an entry has on each type, by the tables as they are now.
void Rounds::FindConfigurations(const Observation& o, std::size_t e) {
  const Entry& entry = entries_[e];
  const std::int32_t row = Of(entry.job).row;
  const ConfigurationTable& table = *o.table[At(row)];
  for (std::size_t t = 0; t < types_; ++t) {
    Cell& cell = CellOf(e, t);
    const auto type = static_cast<GpuTypeIndex>(t);
    if (entry.partner != kAlone) {
      const ConfigurationTable& other = *o.table[At(Of(entry.partner).row)];
      if (entry.standing) {
        cell.configuration = Beside(table, entry.units, type, other.name());
        cell.partner_configuration = Beside(other, entry.partner_units, type, table.name());
      } else if (!IsStill(other, cell.partner_configuration, entry.partner_units, type)) {
        cell.partner_configuration = -1;
      }
      if (cell.partner_configuration < 0) cell.configuration = -1;
    } else if (entry.standing) {
      cell.configuration = table.Find(entry.units, type);
    }
    if (!IsStill(table, cell.configuration, entry.units, type) ||
        !(table[cell.configuration].rate > 0)) {
      cell.configuration = -1;
    }
  }
}

void Rounds::IndexEntry(std::size_t entry) {
  const Entry& e = entries_[entry];
  const auto [last, first] =
      last_of_jobs_.try_emplace(JobsOf(e.job, e.partner), static_cast<std::int32_t>(entry));
  before_.push_back(first ? -1 : last->second);
  last->second = static_cast<std::int32_t>(entry);
}

// The entry that a target is of; a new one where there is none. O(sizes of the same jobs).
std::size_t Rounds::EntryOf(const Observation& o, const TimeShare& target) {
  const auto units = [&o](std::int32_t row, std::int32_t configuration) {
    return (*o.table[At(row)])[configuration].units;
  };
  Entry wanted{.job = o.job[At(target.row)], .units = units(target.row, target.configuration)};
  if (target.partner_row >= 0) {
    wanted.partner = o.job[At(target.partner_row)];
    wanted.partner_units = units(target.partner_row, target.partner_configuration);
    if (wanted.partner < wanted.job) {
      std::swap(wanted.job, wanted.partner);
      std::swap(wanted.units, wanted.partner_units);
    }
  }
  const auto same = [&wanted](const Entry& e) {
    return e.job == wanted.job && e.partner == wanted.partner && e.units == wanted.units &&
           e.partner_units == wanted.partner_units;
  };
  ALLOT_CHECK_GE(Of(wanted.job).entry, 0);  // shares are of rows that were asked about
  const auto usual = static_cast<std::size_t>(Of(wanted.job).entry);
  if (same(entries_[usual])) return usual;
  if (before_.empty()) {
    last_of_jobs_.clear();
    for (std::size_t e = 0; e < entries_.size(); ++e) IndexEntry(e);
  }
  const auto last = last_of_jobs_.find(JobsOf(wanted.job, wanted.partner));
  for (std::int32_t e = last == last_of_jobs_.end() ? -1 : last->second; e >= 0;
       e = before_[At(e)]) {
    if (same(entries_[At(e)])) return At(e);
  }
  const std::size_t e = Append(wanted);
  IndexEntry(e);
  for (std::size_t type = 0; type < types_; ++type) CellOf(e, type).received = o.interval / 2;
  return e;
}

void Rounds::Aim(const Observation& o, std::span<const TimeShare> targets) {
  const Seconds head_start = o.interval / 2;
  const Seconds elapsed = o.now - aimed_;
  for (std::size_t type = 0; type < types_; ++type) {
    if (!options_.remember) received_[type] = 0;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      Cell& cell = CellOf(e, type);
      if (options_.remember) {
        if (!entries_[e].known) {
          if (cell.received == 0) cell.received = head_start;
          received_[type] += head_start;
        }
        cell.share = 0;
        continue;
      }
      const double due = entries_[e].known ? cell.share * elapsed : 0;
      cell.deficit += due - (cell.received - head_start);
      cell.received = head_start;
      cell.share = 0;
      received_[type] += head_start;
    }
  }
  aimed_ = o.now;
  for (const TimeShare& target : targets) {
    if (!options_.residues && !(target.share >= kLeast)) continue;
    const std::size_t e = EntryOf(o, target);
    const ConfigurationTable& table = *o.table[At(target.row)];
    const GpuTypeIndex type = table[target.configuration].gpu_type;
    Cell& cell = CellOf(e, At(type));
    cell.share += target.share;
    if (entries_[e].standing) continue;
    cell.configuration = target.configuration;
    cell.partner_configuration = target.partner_configuration;
    if (target.partner_row < 0) {
      cell.configuration = table.Find(table[target.configuration].units, type);
    } else if (o.job[At(target.row)] != entries_[e].job) {
      std::swap(cell.configuration, cell.partner_configuration);
    }
  }
  before_.clear();
  DropUnused();
  for (Entry& entry : entries_) entry.known = true;
}

void Rounds::OrderTypes(const Observation& o) {
  const std::vector<std::string>& names = o.cluster->types();
  if (order_.size() != types_ || options_.shuffle) {
    order_.clear();
    for (const std::string& name : options_.order) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) {
        CheckIsGpuType(name, names);
        continue;
      }
      order_.push_back(static_cast<GpuTypeIndex>(found - names.begin()));
    }
    for (std::size_t t = 0; t < types_; ++t) {
      const auto type = static_cast<GpuTypeIndex>(t);
      if (std::find(order_.begin(), order_.end(), type) == order_.end()) order_.push_back(type);
    }
    if (random_) random_->Shuffle(&order_);
    rank_.resize(types_);
    for (std::size_t i = 0; i < types_; ++i) {
      rank_[At(order_[i])] = static_cast<std::int32_t>(i);
    }
  }
}

double Rounds::Priority(const Cell& cell, const Entry& entry, GpuTypeIndex type) const {
  constexpr double kNothingYet = 1e9;
  if (!entry.known || cell.share == 0) return 0;
  const Seconds all = received_[At(type)];
  const double part = all == 0 ? 0 : cell.received / all;
  return part > 0 ? cell.share / part : cell.share * kNothingYet;
}

bool Rounds::Leased(const Observation& o, const Entry& entry, GpuTypeIndex type) const {
  if (!(options_.lease > 0) || entry.on != type || entry.round < round_ - 1) return false;
  Seconds cost = o.restart_cost[At(jobs_[At(entry.job)].row)];
  if (entry.partner != kAlone) {
    cost = std::max(cost, o.restart_cost[At(jobs_[At(entry.partner)].row)]);
  }
  return o.now - entry.since < options_.lease * cost;
}

// Whether a job of it has a place.
bool Rounds::Served(const Entry& entry) const {
  return jobs_[At(entry.job)].taken == stamp_ ||
         (entry.partner != kAlone && jobs_[At(entry.partner)].taken == stamp_);
}

// Entries that could run on these types now, each with the types in its order of preference.
void Rounds::AddCandidates(const Observation& o, std::span<const GpuTypeIndex> types) {
  using Leftovers = RoundsOptions::Leftovers;
  const bool with_share_only = options_.leftovers != Leftovers::kInTurn;
  candidates_.clear();
  turns_.clear();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    if (Served(entry)) continue;
    const std::size_t first = candidates_.size();
    for (const GpuTypeIndex type : types) {
      const Cell& cell = CellOf(e, At(type));
      if (cell.configuration < 0 || left_[At(type)].gpus == 0) continue;
      const double priority = Priority(cell, entry, type);
      if (with_share_only && !(priority > 0)) continue;
      candidates_.push_back({priority > 0 && Leased(o, entry, type), priority, cell.deficit,
                             entry.known ? cell.share : 0.0, static_cast<std::int32_t>(e), type});
    }
    if (candidates_.size() > first) AddTurn(first);
  }
}

// A lease before all priorities, which are >= 0: their bits ascend as they do.
Rounds::Turn Rounds::TurnOf(std::int32_t candidate, std::int32_t end) const {
  const Candidate& c = candidates_[At(candidate)];
  constexpr std::uint64_t kLeased = std::uint64_t{1} << 63;
  return {std::bit_cast<std::uint64_t>(c.priority + 0.0) | (c.leased ? kLeased : 0), c.deficit,
          candidate, end};
}

bool Rounds::Before(const Turn& x, const Turn& y) const {
  if (x.key != y.key) return x.key > y.key;
  if (x.deficit != y.deficit) return x.deficit > y.deficit;
  const Candidate& a = candidates_[At(x.candidate)];
  const Candidate& b = candidates_[At(y.candidate)];
  if (a.share != b.share) return a.share > b.share;
  if (a.type != b.type) return rank_[At(a.type)] < rank_[At(b.type)];
  return a.entry < b.entry;
}

// Of the candidates from `first` on, which are those of one entry, few and put in order.
void Rounds::AddTurn(std::size_t first) {
  const auto end = static_cast<std::int32_t>(candidates_.size());
  for (std::size_t i = first + 1; i < candidates_.size(); ++i) {
    for (std::size_t k = i; k > first; --k) {
      const auto at = static_cast<std::int32_t>(k);
      if (!Before(TurnOf(at, end), TurnOf(at - 1, end))) break;
      std::swap(candidates_[k], candidates_[k - 1]);
    }
  }
  turns_.push_back(TurnOf(static_cast<std::int32_t>(first), end));
}

void Rounds::TakeCandidates(const Observation& o, std::span<const GpuTypeIndex> types,
                            std::vector<Given>* given) {
  const auto before = [this](const Turn& a, const Turn& b) { return Before(a, b); };
  const auto after = [&before](const Turn& a, const Turn& b) { return before(b, a); };
  // Whoever found no room has another turn where its next candidate comes.
  later_.clear();
  const auto try_one = [&](const Turn& turn) {
    const Candidate& candidate = candidates_[At(turn.candidate)];
    const bool room = left_[At(candidate.type)].gpus > 0;
    if (room && Take(o, candidate.entry, candidate.type, given)) return;
    if (turn.candidate + 1 == turn.end || Served(entries_[At(candidate.entry)])) return;
    later_.push_back(TurnOf(turn.candidate + 1, turn.end));
    std::push_heap(later_.begin(), later_.end(), after);
  };
  const auto try_later = [&](const Turn* until) {
    while (!later_.empty() && (until == nullptr || before(later_.front(), *until))) {
      std::pop_heap(later_.begin(), later_.end(), after);
      const Turn turn = later_.back();
      later_.pop_back();
      try_one(turn);
    }
  };
  const auto none_left = [&] {
    return std::all_of(types.begin(), types.end(),
                       [this](GpuTypeIndex type) { return left_[At(type)].gpus == 0; });
  };
  // Piece by piece: who comes late finds no GPU, and pairs are many.
  std::ptrdiff_t piece = 256;
  const auto all = static_cast<std::ptrdiff_t>(turns_.size());
  for (std::ptrdiff_t first = 0; first < all && !none_left(); first += piece, piece *= 2) {
    const auto begin = turns_.begin() + first;
    const auto end = turns_.begin() + std::min(all, first + piece);
    if (end != turns_.end()) std::nth_element(begin, end, turns_.end(), before);
    std::sort(begin, end, before);
    for (auto turn = begin; turn != end && !none_left(); ++turn) {
      if (!later_.empty()) try_later(&*turn);
      try_one(*turn);
    }
  }
  try_later(nullptr);
}

bool Rounds::Take(const Observation& o, std::int32_t e, GpuTypeIndex type,
                  std::vector<Given>* given) {
  Entry& entry = entries_[At(e)];
  const Cell& cell = CellOf(At(e), At(type));
  OfJob& job = jobs_[At(entry.job)];
  const bool paired = entry.partner != kAlone;
  OfJob* const partner = paired ? &jobs_[At(entry.partner)] : nullptr;
  if (job.taken == stamp_ || (paired && partner->taken == stamp_)) return false;
  const Configuration& c = (*o.table[At(job.row)])[cell.configuration];
  Resources& left = left_[At(type)];
  Resources demand = c.demand;
  const Configuration* other = nullptr;
  if (paired) {
    // One set of GPUs, but what else both need.
    other = &(*o.table[At(partner->row)])[cell.partner_configuration];
    if (other->demand.gpus != demand.gpus) return false;
    demand += {0, other->demand.cpus, other->demand.memory_mb};
  }
  if (!demand.FitsIn(left)) return false;
  left -= demand;
  job.taken = stamp_;
  if (paired) partner->taken = stamp_;
  if (options_.hold && !entry.known) return true;
  Ran ran{.entry = e, .type = type, .job = entry.job, .partner = entry.partner};
  ran.done = o.done_work[At(job.row)];
  ran.rate = c.rate;
  Given gives{job.row, cell.configuration, entry.known ? static_cast<float>(cell.share) : 0.0F};
  if (paired) {
    ran.partner_done = o.done_work[At(partner->row)];
    ran.partner_rate = other->rate;
    gives.partner_row = partner->row;
    gives.partner_configuration = cell.partner_configuration;
  }
  if (entry.on != type || entry.round < round_ - 1) entry.since = o.now;
  entry.on = type;
  entry.round = round_;
  ran_.push_back(ran);
  given->push_back(gives);
  return true;
}

// Types are filled one after the other, so that one can be left with free GPUs because those with a
// share of it run elsewhere: such a job makes room for one that waits, and takes the free ones.
void Rounds::MakeRoom(const Observation& o, std::vector<Given>* given) {
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& waits = entries_[e];
    if (Served(waits)) continue;
    std::size_t mover = ran_.size();
    GpuTypeIndex to = -1;
    double best = 0;
    for (std::size_t i = 0; i < ran_.size(); ++i) {
      const Ran& ran = ran_[i];
      const Cell& place = CellOf(e, At(ran.type));
      if (place.configuration < 0 || !(place.share > 0) || ran.partner != kAlone) continue;
      const ConfigurationTable& table = *o.table[At(jobs_[At(ran.job)].row)];
      const ConfigurationTable& its = *o.table[At(jobs_[At(waits.job)].row)];
      const Resources& given_up = table[(*given)[i].configuration].demand;
      if (!its[place.configuration].demand.FitsIn(given_up)) continue;
      for (std::size_t t = 0; t < types_; ++t) {
        const Cell& free = CellOf(At(ran.entry), t);
        const auto type = static_cast<GpuTypeIndex>(t);
        if (type == ran.type || free.configuration < 0 || !(free.share > 0)) continue;
        if (!table[free.configuration].demand.FitsIn(left_[t])) continue;
        const double gain =
            Priority(free, entries_[At(ran.entry)], type) + Priority(place, waits, ran.type);
        if (gain <= best) continue;
        best = gain;
        mover = i;
        to = type;
      }
    }
    if (mover == ran_.size()) continue;
    Ran& ran = ran_[mover];
    const GpuTypeIndex from = ran.type;
    const Cell& cell = CellOf(At(ran.entry), At(to));
    Entry& entry = entries_[At(ran.entry)];
    const ConfigurationTable& table = *o.table[At(jobs_[At(ran.job)].row)];
    left_[At(from)] += table[(*given)[mover].configuration].demand;
    left_[At(to)] -= table[cell.configuration].demand;
    ran.type = entry.on = to;
    ran.rate = table[cell.configuration].rate;
    entry.since = o.now;
    (*given)[mover].configuration = cell.configuration;
    (*given)[mover].share = static_cast<float>(cell.share);
    Take(o, static_cast<std::int32_t>(e), from, given);
  }
}

void Rounds::FillWhatIsLeft(const Observation& o, std::vector<Given>* given) {
  for (const JobIndex job : present_) {
    const OfJob& of = jobs_[At(job)];
    if (of.taken == stamp_) continue;
    const auto e = At(of.entry);
    const ConfigurationTable& table = *o.table[At(of.row)];
    double best = 0;
    const std::size_t first = candidates_.size();
    for (std::size_t t = 0; t < types_; ++t) {
      const Cell& cell = CellOf(e, t);
      if (cell.configuration < 0) continue;
      const auto type = static_cast<GpuTypeIndex>(t);
      const double rate = table[cell.configuration].rate;
      best = std::max(best, rate);
      candidates_.push_back({.leased = Leased(o, entries_[e], type),
                             .priority = rate,
                             .entry = of.entry,
                             .type = type});
    }
    for (std::size_t i = first; i < candidates_.size(); ++i) candidates_[i].priority /= best;
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    if (a.leased != b.leased) return a.leased;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.entry != b.entry ? a.entry < b.entry : a.type < b.type;
  });
  for (const Candidate& candidate : candidates_) Take(o, candidate.entry, candidate.type, given);
  candidates_.clear();
}

void Rounds::Fill(const Observation& o, std::vector<Given>* given) {
  ran_.clear();
  left_.clear();
  for (std::size_t t = 0; t < types_; ++t) {
    left_.push_back(o.cluster->total_of(static_cast<GpuTypeIndex>(t)));
  }
  // One queue over all types, or type by type.
  const std::size_t queue = options_.global ? types_ : 1;
  for (std::size_t first = 0; first < types_; first += queue) {
    const auto types = std::span<const GpuTypeIndex>(order_).subspan(first, queue);
    AddCandidates(o, types);
    TakeCandidates(o, types, given);
  }
  candidates_.clear();
  if (options_.leftovers == RoundsOptions::Leftovers::kBest) {
    MakeRoom(o, given);
    FillWhatIsLeft(o, given);
  }
  // Types have no GPU in common; on each, large ones go while whole nodes are free.
  const auto before = [&](const Given& a, const Given& b) {
    const Configuration& x = (*o.table[At(a.row)])[a.configuration];
    const Configuration& y = (*o.table[At(b.row)])[b.configuration];
    if (x.gpu_type != y.gpu_type) {
      return rank_[At(x.gpu_type)] < rank_[At(y.gpu_type)];
    }
    return x.demand.gpus > y.demand.gpus;
  };
  if (!std::is_sorted(given->begin(), given->end(), before)) {
    std::stable_sort(given->begin(), given->end(), before);
  }
}

}  // namespace allot
