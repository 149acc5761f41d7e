#include "stages/fill/servable_rows.h"

#include <algorithm>
#include <functional>

#include "core/index.h"

namespace allot {
namespace {

constexpr std::size_t kFewRows = 256;
constexpr GpuTypeIndex kOnlyType = 0;

}  // namespace

bool ServableRows::Find(const Observation& o, std::span<const std::int32_t> rows,
                        std::span<const Score> scores, const HullFillOptions& options,
                        SizedHulls* hulls) {
  if (rows.size() < kFewRows || o.cluster->types().size() != 1 || options.explore != 0) {
    return false;
  }
  kind_count_ = 0;
  slots_.fill(-1);
  indices_.clear();
  Kind* kind = nullptr;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = At(rows[i]);
    if (i > 0) {
      const std::size_t last = At(rows[i - 1]);
      if (o.submit[row] < o.submit[last] ||
          (o.submit[row] == o.submit[last] && o.job[row] < o.job[last])) {
        return false;
      }
    }
    if (kind == nullptr || kind->table != o.table[row]) kind = KindOf(o, *o.table[row], hulls);
    if (kind == nullptr) return false;
    if (kind->most == 0 || o.running[row] >= 0) {
      indices_.push_back(i);
      continue;
    }
    const HullCursor cursor(o, rows[i], kOnlyType, *kind->hull);
    Offer(EntryOf(cursor.Key(scores[i], options), i), kind);
  }
  for (const Kind& each : std::span(kinds_).first(kind_count_)) {
    for (const std::uint64_t entry : each.best) indices_.push_back(CursorOf(entry));
  }
  if (2 * indices_.size() > rows.size()) return false;
  std::sort(indices_.begin(), indices_.end());
  rows_.clear();
  scores_.clear();
  for (const std::size_t i : indices_) {
    rows_.push_back(rows[i]);
    scores_.push_back(scores[i]);
  }
  return true;
}

bool ServableRows::AnyOtherFits(const TypeCapacity& free) const {
  const auto kinds = std::span(kinds_).first(kind_count_);
  return std::any_of(kinds.begin(), kinds.end(), [&free](const Kind& kind) {
    return kind.others && free.Fits((*kind.table)[kind.hull->front().to]);
  });
}

// Null: there are too many, or one has units of several kinds, of which a larger configuration may
// need less of something.
ServableRows::Kind* ServableRows::KindOf(const Observation& o, const ConfigurationTable& table,
                                         SizedHulls* hulls) {
  std::size_t slot = std::hash<const ConfigurationTable*>()(&table) / alignof(ConfigurationTable);
  slot = (slot ^ slot / slots_.size()) % slots_.size();
  for (; slots_[slot] >= 0; slot = (slot + 1) % slots_.size()) {
    Kind& known = kinds_[At(slots_[slot])];
    if (known.table == &table) return &known;
  }
  if (kind_count_ == kMostKinds || table.kinds().size() != 1) return nullptr;
  slots_[slot] = static_cast<std::int8_t>(kind_count_);
  if (kind_count_ == kinds_.size()) kinds_.emplace_back();
  Kind& kind = kinds_[kind_count_++];
  kind.table = &table;
  kind.hull = &hulls->Of(table, kOnlyType);
  kind.most = 0;
  kind.best.clear();
  kind.others = false;
  if (table.size() == 1 && kind.hull->size() == 1 && table[0].demand.gpus > 0) {
    kind.most =
        static_cast<std::size_t>(std::max(1, o.cluster->total().gpus / table[0].demand.gpus));
  }
  return &kind;
}

void ServableRows::Offer(std::uint64_t entry, Kind* kind) {
  std::vector<std::uint64_t>& best = kind->best;
  if (best.size() < kind->most) {
    best.push_back(entry);
    std::push_heap(best.begin(), best.end(), std::greater<>());
    return;
  }
  kind->others = true;
  if (entry <= best.front()) return;
  std::pop_heap(best.begin(), best.end(), std::greater<>());
  best.back() = entry;
  std::push_heap(best.begin(), best.end(), std::greater<>());
}

}  // namespace allot
