// Rounds: entries, and what they received.

#include "stages/rounds.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/check.h"
#include "core/index.h"

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

}  // namespace allot
