#include "stages/fill/hull_fill.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/index.h"
#include "core/packed_sort.h"
#include "length_model/remaining.h"

namespace allot {
namespace {

// Of fewer climbs, or where fewer steps a climb are to be had, the heap alone takes less time.
constexpr std::size_t kFewClimbs = 8;
constexpr std::int64_t kManySteps = 2;
// Prices are logarithms: one falls by less than half from one decision to the next, most times.
constexpr float kBelowPrice = 0.7F;

// Of such numbers finite keys are made.
bool IsModerate(float number) { return std::abs(number) < 1e9F; }
bool IsModerate(const Score& score) {
  return IsModerate(score.u) && IsModerate(score.beta) && IsModerate(score.kappa);
}

float WorthExploring(const Observation& o, std::int32_t row) {
  const ConfigurationTable& table = *o.table[At(row)];
  const std::int32_t running = o.running[At(row)];
  const double now = running >= 0 ? table[running].rate : 0;
  const Seconds left = AssumedRemaining(o, row) / (now > 0 ? now : table.reference_rate());
  const Seconds price = 2 * o.restart_cost[At(row)] + o.interval;  // there and back
  return static_cast<float>(std::max(0.0, 1 - price / std::max(left, 1e-3)));
}

// Puts another entry in place of the largest: a job's next step, which is seldom far behind.
void ReplaceTop(std::vector<std::uint64_t>* heap, std::uint64_t entry) {
  std::uint64_t* at = heap->data();
  const std::size_t size = heap->size();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && at[child + 1] > at[child]) ++child;
    if (at[child] <= entry) break;
    at[hole] = at[child];
    hole = child;
  }
  at[hole] = entry;
}

void PopTop(std::vector<std::uint64_t>* heap) {
  const std::uint64_t last = heap->back();
  heap->pop_back();
  if (!heap->empty()) ReplaceTop(heap, last);
}

}  // namespace

void HullFill::OrderBySubmission(const Observation& o, std::span<const std::int32_t> rows) {
  order_.resize(rows.size());
  std::iota(order_.begin(), order_.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const std::size_t i = At(rows[At(a)]);
    const std::size_t j = At(rows[At(b)]);
    return o.submit[i] != o.submit[j] ? o.submit[i] < o.submit[j] : o.job[i] < o.job[j];
  };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) {
    std::sort(order_.begin(), order_.end(), before);
  }
}

void HullFill::OpenClimbs(const Observation& o, std::span<const std::int32_t> rows,
                          std::span<const GpuTypeIndex> types) {
  for (const std::int32_t i : order_) {
    const std::int32_t row = rows[At(i)];
    for (const GpuTypeIndex type : o.table[At(row)]->types()) {
      if (!types.empty() && types[At(i)] != kNoType && types[At(i)] != type) continue;
      HullCursor cursor(o, row, type, hulls_.Of(*o.table[At(row)], type));
      if (cursor.done()) continue;
      if (options_.explore != 0) cursor.Explore(options_.explore * WorthExploring(o, row));
      cursors_.push_back(cursor);
      index_of_.push_back(i);
    }
  }
}

// A step comes after those below it: it counts as worth no more than they are.
void HullFill::TakeGreedyPrefix(const Observation& o, std::span<const std::int32_t> rows,
                                std::span<const Score> scores) {
  std::size_t longest = 0;
  for (const HullCursor& cursor : cursors_) longest = std::max(longest, cursor.hull().size());
  prefix_.Clear(cursors_.size(), longest, capacity_.types());
  climbs_.clear();
  climbs_.reserve(cursors_.size());
  firsts_.clear();
  firsts_.reserve(rows.size());
  scratch_.reserve(rows.size());
  if (cursors_.size() < kFewClimbs || !capacity_.Serves(kManySteps * std::ssize(cursors_))) return;
  const auto moderate = [](const Score& score) { return IsModerate(score); };
  if (!IsModerate(options_.first_bonus) || !std::ranges::all_of(scores, moderate)) return;
  const float floor = price_ - kBelowPrice;
  for (std::size_t c = 0; c < cursors_.size();) {
    const std::int32_t index = index_of_[c];
    const Score& score = scores[At(index)];
    // A job begins on the type whose first step is worth the most.
    std::size_t best = c;
    float first = cursors_[c].Key(score, options_);
    for (++c; c < cursors_.size() && index_of_[c] == index; ++c) {
      const float key = cursors_[c].Key(score, options_);
      if (key > first) {
        best = c;
        first = key;
      }
    }
    HullCursor cursor = cursors_[best];
    climbs_.push_back(static_cast<std::int32_t>(best));
    prefix_.OpenClimb(cursor.hull(), cursor.type());
    for (; first >= floor; first = std::min(first, cursor.Key(score, options_))) {
      prefix_.AddStep(first);
      cursor.Advance();
      if (cursor.done()) break;
    }
  }
  prefix_.Find(capacity_);
  for (std::size_t i = 0; i < climbs_.size(); ++i) {
    const std::int32_t steps = prefix_.certain(i);
    if (steps == 0) continue;
    HullCursor& cursor = cursors_[At(climbs_[i])];
    const std::int32_t index = index_of_[At(climbs_[i])];
    firsts_.push_back(PackKey(-cursor.Key(scores[At(index)], options_), At(climbs_[i])));
    cursor.Advance(steps);
    chosen_[At(index)] = cursor.configuration();
    capacity_.Take((*o.table[At(rows[At(index)])])[cursor.configuration()]);
  }
  SortPacked(&firsts_, &scratch_);
  for (const std::uint64_t first : firsts_) first_served_.push_back(index_of_[PackedIndex(first)]);
}

// Of jobs whose type is given, best first.
void HullFill::TakeFirstSteps(const Observation& o, std::span<const std::int32_t> rows,
                              std::span<const Score> scores, std::span<const GpuTypeIndex> types,
                              std::vector<FillStep>* trace) {
  firsts_.clear();
  for (std::size_t c = 0; c < cursors_.size(); ++c) {
    const std::int32_t index = index_of_[c];
    if (types[At(index)] == kNoType) continue;
    firsts_.push_back(~EntryOf(cursors_[c].Key(scores[At(index)], options_), c));
  }
  SortPacked(&firsts_, &scratch_);
  for (const std::uint64_t first : firsts_) {
    HullCursor& cursor = cursors_[CursorOf(~first)];
    const std::int32_t index = index_of_[CursorOf(~first)];
    const Configuration& to = (*o.table[At(rows[At(index)])])[cursor.step().to];
    if (!capacity_.Fits(to)) continue;
    if (trace != nullptr) {
      trace->push_back({index, -1, cursor.step().to, cursor.Key(scores[At(index)], options_), true,
                        capacity_.free(cursor.type())});
    }
    capacity_.Take(to);
    chosen_[At(index)] = cursor.step().to;
    first_served_.push_back(index);
    cursor.Advance();
  }
}

// The next steps of those who climb, in the heap; of who does not, the best first step, sorted: its
// other types matter only if it is refused.
void HullFill::OpenSteps(std::span<const std::int32_t> rows, std::span<const Score> scores) {
  firsts_.clear();
  firsts_.reserve(rows.size());
  scratch_.reserve(rows.size());
  heap_.reserve(cursors_.size());
  next_first_ = 0;
  for (std::size_t c = 0; c < cursors_.size();) {
    const std::int32_t index = index_of_[c];
    const Score& score = scores[At(index)];
    std::uint64_t first = 0;
    for (; c < cursors_.size() && index_of_[c] == index; ++c) {
      if (cursors_[c].done() || chosen_[At(index)] != cursors_[c].configuration()) continue;
      const std::uint64_t entry = EntryOf(cursors_[c].Key(score, options_), c);
      if (chosen_[At(index)] >= 0) {
        heap_.push_back(entry);
      } else {
        first = std::max(first, entry);
      }
    }
    if (first != 0) firsts_.push_back(~first);
  }
  std::make_heap(heap_.begin(), heap_.end());
  SortPacked(&firsts_, &scratch_);
}

// All but that of the best one, at which the job was refused.
void HullFill::OfferOtherTypes(std::size_t best, const Score& score) {
  const std::int32_t index = index_of_[best];
  std::size_t c = best;
  while (c > 0 && index_of_[c - 1] == index) --c;
  for (; c < cursors_.size() && index_of_[c] == index; ++c) {
    if (c == best || cursors_[c].done() || cursors_[c].position() > 0) continue;
    heap_.push_back(EntryOf(cursors_[c].Key(score, options_), c));
    std::push_heap(heap_.begin(), heap_.end());
  }
}

void HullFill::Fill(const Observation& o, std::span<const std::int32_t> rows,
                    std::span<const Score> scores, std::vector<Grant>* grants,
                    std::vector<FillStep>* trace, std::span<const GpuTypeIndex> types) {
  // Whoever wants to see each step considered sees those of all rows.
  if (trace == nullptr && types.empty() && servable_.Find(o, rows, scores, options_, &hulls_)) {
    const std::size_t before = grants->size();
    FillFrom(o, servable_.rows(), servable_.scores(), grants, nullptr, {});
    if (!servable_.AnyOtherFits(capacity_)) return;
    grants->resize(before);
  }
  FillFrom(o, rows, scores, grants, trace, types);
}

void HullFill::FillFrom(const Observation& o, std::span<const std::int32_t> rows,
                        std::span<const Score> scores, std::vector<Grant>* grants,
                        std::vector<FillStep>* trace, std::span<const GpuTypeIndex> types) {
  capacity_.Reset(*o.cluster, LeastUnit(o, rows));
  cursors_.clear();
  index_of_.clear();
  heap_.clear();
  first_served_.clear();
  chosen_.assign(rows.size(), -1);
  // So that a later decision that serves or blocks more of them takes no memory either.
  first_served_.reserve(rows.size());
  blocked_.reserve(rows.size());
  blocked_.clear();
  OrderBySubmission(o, rows);
  OpenClimbs(o, rows, types);
  if (!types.empty()) {
    TakeFirstSteps(o, rows, scores, types, trace);
  } else if (trace == nullptr) {
    // Whoever wants to see each step considered sees them taken one by one.
    TakeGreedyPrefix(o, rows, scores);
  }
  OpenSteps(rows, scores);
  while (!capacity_.Exhausted()) {
    const bool first =
        next_first_ < firsts_.size() && (heap_.empty() || ~firsts_[next_first_] > heap_.front());
    if (!first && heap_.empty()) break;
    const std::uint64_t entry = first ? ~firsts_[next_first_++] : heap_.front();
    const std::size_t top = CursorOf(entry);
    HullCursor& cursor = cursors_[top];
    const std::int32_t index = index_of_[top];
    const ConfigurationTable& table = *o.table[At(rows[At(index)])];
    std::int32_t& chosen = chosen_[At(index)];
    // A job that began on one type has left the hulls of the others.
    if (chosen != cursor.configuration()) {
      PopTop(&heap_);
      continue;
    }
    if (chosen >= 0) capacity_.Return(table[chosen]);
    const bool fits = capacity_.Fits(table[cursor.step().to]);
    if (trace != nullptr) {
      trace->push_back({index, chosen, cursor.step().to, cursor.Key(scores[At(index)], options_),
                        fits, capacity_.free(cursor.type())});
    }
    if (!fits) {
      if (chosen >= 0) capacity_.Take(table[chosen]);
      blocked_.push_back(index);
      if (first) {
        OfferOtherTypes(top, scores[At(index)]);
      } else {
        PopTop(&heap_);
      }
      continue;
    }
    capacity_.Take(table[cursor.step().to]);
    price_ = PackedKey(entry);
    if (chosen < 0) first_served_.push_back(index);
    chosen = cursor.step().to;
    cursor.Advance();
    if (cursor.done()) {
      if (!first) PopTop(&heap_);
      continue;
    }
    const std::uint64_t next = EntryOf(cursor.Key(scores[At(index)], options_), top);
    if (!first) {
      ReplaceTop(&heap_, next);
    } else {
      heap_.push_back(next);
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  if (!capacity_.Exhausted()) FillLeftovers(o, rows, blocked_, &capacity_, &chosen_, &hulls_);
  served_.assign(rows.size(), 0);
  const auto grant = [&](std::int32_t index) {
    if (served_[At(index)] != 0 || chosen_[At(index)] < 0) return;
    served_[At(index)] = 1;
    grants->push_back({rows[At(index)], chosen_[At(index)]});
  };
  for (const std::int32_t index : first_served_) grant(index);
  for (const std::int32_t index : blocked_) grant(index);
}

Resources LeastUnit(const Observation& o, std::span<const std::int32_t> rows) {
  Resources least{std::numeric_limits<std::int32_t>::max(),
                  std::numeric_limits<std::int32_t>::max()};
  for (const std::int32_t row : rows) {
    const Resources& own = o.table[At(row)]->least_unit();
    least = {std::min(least.gpus, own.gpus), std::min(least.cpus, own.cpus)};
  }
  return least;
}

namespace {

// How long a larger configuration has for paying its restart. Where a change moves the job's state
// it costs minutes, which one interval seldom pays.
Seconds PaybackTime(const Observation& o, std::size_t row, const Configuration& now) {
  if (!(now.state_seconds > 0) || !(now.rate > 0)) return o.interval;
  return AssumedRemaining(o, static_cast<std::int32_t>(row)) / now.rate;
}

}  // namespace

void FillLeftovers(const Observation& o, std::span<const std::int32_t> rows,
                   std::span<const std::int32_t> preference, TypeCapacity* capacity,
                   std::vector<std::int32_t>* chosen, const SizedHulls* sizes) {
  for (const std::int32_t index : preference) {
    if (capacity->Exhausted()) return;
    const std::size_t row = At(rows[At(index)]);
    const ConfigurationTable& table = *o.table[row];
    std::int32_t& now = (*chosen)[At(index)];
    if (now >= 0) capacity->Return(table[now]);
    std::int32_t best = now;
    for (const std::int32_t c : table.fastest()) {
      if (now >= 0 && table[c].gpu_type != table[now].gpu_type) continue;
      if (!capacity->Fits(table[c])) continue;
      if (sizes != nullptr && !sizes->Has(table[c].demand.gpus)) continue;
      if (now < 0 || table[c].rate > table[now].rate) best = c;
      break;
    }
    const std::int32_t running = o.running[row];
    if (best != now && now >= 0 && running == now) {
      // Growing a job that could simply run on must pay for its restart.
      const double gained = (table[best].rate - table[now].rate) * PaybackTime(o, row, table[now]);
      if (gained <= table[best].rate * o.restart_cost[row]) best = now;
    }
    // What it runs on already costs nothing to keep.
    if (best >= 0 && running >= 0 && best != running && capacity->Fits(table[running]) &&
        (now < 0 || table[running].rate >= table[now].rate)) {
      const double gained =
          (table[best].rate - table[running].rate) * PaybackTime(o, row, table[running]);
      if (gained <= table[best].rate * o.restart_cost[row]) best = running;
    }
    now = best;
    if (now >= 0) capacity->Take(table[now]);
  }
}

}  // namespace allot
