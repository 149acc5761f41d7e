#include "sim/holdings.h"

#include <algorithm>
#include <bit>

#include "cluster/validate.h"
#include "core/check.h"
#include "core/index.h"

namespace allot {

void Holdings::Reset(const Observation& o, FreeMap* free) {
  free_ = free;
  free_->Reset(*o.cluster);
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    ALLOT_CHECK(TakeShares(o, row, o.shares_of(row), o.partner_of(row)));
  }
}

void Holdings::Release(const Observation& o, std::int32_t row) {
  ReleaseShares(o, row, o.shares_of(row));
}

bool Holdings::TakeShares(const Observation& o, std::int32_t row, std::span<const NodeShare> shares,
                          JobIndex partner) {
  const auto& kinds = o.table[At(row)]->kinds();
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const NodeShare& share = shares[s];
    const Resources demand = DemandOf(kinds, share.units);
    if (free_->TakeExactly(share.node, share.gpus, demand)) continue;
    if (partner != kAlone && free_->Join(share.node, share.gpus, demand)) continue;
    ReleaseShares(o, row, shares.first(s));
    return false;
  }
  return true;
}

void Holdings::ReleaseShares(const Observation& o, std::int32_t row,
                             std::span<const NodeShare> shares) {
  const auto& kinds = o.table[At(row)]->kinds();
  for (const NodeShare& share : shares) {
    free_->Release(share.node, share.gpus, DemandOf(kinds, share.units));
  }
}

bool Holdings::Take(const Observation& o, std::span<const std::int32_t> row_of_job,
                    std::span<const std::int32_t> running_rows, const Allocation& allocation) {
  Begin(o);
  if (!FindGiven(o, row_of_job, allocation)) return false;
  const std::size_t go_on = allocation.entries().size() - changes_.size();
  if (go_on != running_rows.size()) {
    for (const std::int32_t row : running_rows) {
      if (!IsNamed(row)) changes_.push_back({row, -1});
    }
  }
  // Who shares GPUs with whom is a rule of the whole answer.
  if (allocation.has_partners() && !ValidateAllocation(o, allocation).ok()) return false;
  return TakeFound(o, allocation);
}

bool Holdings::TakeChanges(const Observation& o, std::span<const std::int32_t> row_of_job,
                           const AllocationChanges& changes) {
  Begin(o);
  if (!FindGiven(o, row_of_job, changes.given)) return false;
  for (const JobIndex job : changes.stopped) {
    const std::int32_t row = Name(row_of_job, job);
    if (row < 0 || o.running[At(row)] < 0) return false;
    changes_.push_back({row, -1});
  }
  if (changes.given.has_partners() && !ValidateChanges(o, changes).ok()) return false;
  return TakeFound(o, changes.given);
}

void Holdings::Begin(const Observation& o) {
  changes_.clear();
  named_rows_.assign((o.job.size() + 63) / 64, 0);
}

// The job's row; -1: it has none, or was named before.
inline std::int32_t Holdings::Name(std::span<const std::int32_t> row_of_job, JobIndex job) {
  if (job < 0 || At(job) >= row_of_job.size()) return -1;
  const std::int32_t row = row_of_job[At(job)];
  if (row < 0) return -1;
  std::uint64_t& word = named_rows_[At(row) / 64];
  const std::uint64_t bit = std::uint64_t{1} << (At(row) % 64);
  if ((word & bit) != 0) return -1;
  word |= bit;
  return row;
}

inline bool Holdings::IsNamed(std::int32_t row) const {
  return (named_rows_[At(row) / 64] >> (At(row) % 64) & 1U) != 0;
}

bool Holdings::FindGiven(const Observation& o, std::span<const std::int32_t> row_of_job,
                         const Allocation& given) {
  const std::vector<Allocation::Entry>& entries = given.entries();
  const std::size_t count = entries.size();
  for (std::size_t e = 0; e < count; ++e) {
    const Allocation::Entry& entry = entries[e];
    const std::int32_t row = Name(row_of_job, entry.job);
    if (row < 0) return false;
    if (entry.relaunch || !HoldsAlready(o, row, given, entry)) {
      changes_.push_back({row, static_cast<std::int32_t>(e)});
    }
  }
  return true;
}

// By row. Many of them through a bit a row: rows are distinct.
void Holdings::SortChanges(std::size_t rows) {
  constexpr std::size_t kFew = 64;
  const auto by_row = [](const Change& a, const Change& b) { return a.row < b.row; };
  if (changes_.size() < kFew) {
    std::sort(changes_.begin(), changes_.end(), by_row);
    return;
  }
  if (std::is_sorted(changes_.begin(), changes_.end(), by_row)) return;
  changed_rows_.assign((rows + 63) / 64, 0);
  if (entry_of_.size() < rows) entry_of_.resize(rows);
  for (const Change& change : changes_) {
    changed_rows_[At(change.row) / 64] |= std::uint64_t{1} << (At(change.row) % 64);
    entry_of_[At(change.row)] = change.entry;
  }
  auto next = changes_.begin();
  for (std::size_t word = 0; word < changed_rows_.size(); ++word) {
    for (std::uint64_t bits = changed_rows_[word]; bits != 0; bits &= bits - 1) {
      const std::size_t row = word * 64 + At(std::countr_zero(bits));
      *next++ = {static_cast<std::int32_t>(row), entry_of_[row]};
    }
  }
}

bool Holdings::TakeFound(const Observation& o, const Allocation& given) {
  SortChanges(o.job.size());
  for (const Change& change : changes_) {
    if (change.entry < 0) continue;
    const Allocation::Entry& entry = given.entries()[At(change.entry)];
    if (!ValidateEntry(o, change.row, given, entry).ok()) return false;
  }
  for (const Change& change : changes_) Release(o, change.row);
  for (std::size_t c = 0; c < changes_.size(); ++c) {
    const auto shares_of = [&](const Change& change) {
      return change.entry < 0 ? std::span<const NodeShare>()
                              : given.shares(given.entries()[At(change.entry)]);
    };
    const std::int32_t entry = changes_[c].entry;
    const JobIndex partner = entry < 0 ? kAlone : given.entries()[At(entry)].partner;
    if (TakeShares(o, changes_[c].row, shares_of(changes_[c]), partner)) continue;
    while (c-- > 0) ReleaseShares(o, changes_[c].row, shares_of(changes_[c]));
    for (const Change& change : changes_) {
      ALLOT_CHECK(TakeShares(o, change.row, o.shares_of(change.row), o.partner_of(change.row)));
    }
    return false;
  }
  return true;
}

}  // namespace allot
