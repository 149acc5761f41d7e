#include "plugin/table_store.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/snapshot.h"
#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

static_assert(ALLOT_UNIT_KINDS == kMaxUnitKinds);
constexpr std::int32_t kMostUnits = kMaxGpusPerJob;
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 22;  // of a table's index by units

// What makes a table, piece by piece: equal ones have equal bytes. visit(bytes, count), until it
// answers false; returns whether it never did.
template <typename Visit>
bool VisitBytes(const allot_snapshot& s, std::int32_t index, const Visit& visit) {
  const std::size_t t = At(index);
  const std::size_t kinds = s.table_kinds == nullptr ? 1 : At(s.table_kinds[t]);
  const std::size_t begin = At(s.configuration_begin[t]);
  const std::size_t count = At(s.configuration_begin[t + 1]) - begin;
  const auto array = [&visit](const auto* values, std::size_t from, std::size_t length) {
    return visit(reinterpret_cast<const char*>(values + from), length * sizeof *values);
  };
  const auto optional = [&array](const auto* values, std::size_t from, std::size_t length) {
    return values == nullptr || array(values, from, length);
  };
  const auto text = [&visit](const char* name) { return visit(name, std::strlen(name) + 1); };
  const std::uint32_t given =
      (s.kind_name != nullptr ? 1U : 0U) | (s.table_most_units != nullptr ? 2U : 0U) |
      (s.configuration_type != nullptr ? 4U : 0U) |
      (s.configuration_least_nodes != nullptr ? 8U : 0U) |
      (s.configuration_most_nodes != nullptr ? 16U : 0U) | (s.table_name != nullptr ? 32U : 0U);
  const std::size_t shape[] = {kinds, count, given};
  if (!array(shape, 0, std::size(shape))) return false;
  if (s.kind_name != nullptr) {
    for (std::size_t k = 2 * t; k < 2 * t + kinds; ++k) {
      if (!text(s.kind_name[k])) return false;
    }
    if (!array(s.kind_gpus, 2 * t, kinds) || !array(s.kind_cpus, 2 * t, kinds) ||
        !array(s.kind_price, 2 * t, kinds)) {
      return false;
    }
  }
  return array(s.configuration_rate, begin, count) &&  // first: what changes most
         array(s.configuration_units, 2 * begin, 2 * count) &&
         optional(s.table_most_units, 2 * t, 2) && optional(s.configuration_type, begin, count) &&
         optional(s.configuration_least_nodes, begin, count) &&
         optional(s.configuration_most_nodes, begin, count) &&
         (s.table_name == nullptr || text(s.table_name[t]));
}

bool HasBytes(const allot_snapshot& s, std::int32_t index, const std::string& key) {
  const char* at = key.data();
  std::size_t left = key.size();
  return VisitBytes(s, index,
                    [&](const char* bytes, std::size_t count) {
                      if (count > left || std::memcmp(at, bytes, count) != 0) return false;
                      at += count;
                      left -= count;
                      return true;
                    }) &&
         left == 0;
}

std::vector<UnitKind> KindsOf(const allot_snapshot& s, std::int32_t index) {
  if (s.kind_name == nullptr) return {{"gpu", {1, 0}}};
  std::vector<UnitKind> kinds;
  for (std::size_t k = 2 * At(index); kinds.size() < At(s.table_kinds ? s.table_kinds[index] : 1);
       ++k) {
    const Resources demand{s.kind_gpus[k], s.kind_cpus[k]};
    if (demand.gpus < 0 || demand.gpus > kMaxGpusPerNode || demand.cpus < 0 ||
        demand.cpus > kMostCpusOfUnit) {
      throw DataError("table {}: a unit needs 0 to {} GPUs and 0 to {} CPUs, got {} and {}", index,
                      kMaxGpusPerNode, kMostCpusOfUnit, demand.gpus, demand.cpus);
    }
    if (!(s.kind_price[k] >= 0) || !std::isfinite(s.kind_price[k])) {
      throw DataError("table {}: 'kind_price' must be >= 0, got {}", index, s.kind_price[k]);
    }
    kinds.push_back({s.kind_name[k], demand, s.kind_price[k]});
  }
  return kinds;
}

UnitCounts LimitsOf(const allot_snapshot& s, std::int32_t index) {
  UnitCounts limits = ConfigurationTable::kNoLimits;
  if (s.table_most_units == nullptr) return limits;
  for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
    const std::int32_t most = s.table_most_units[2 * At(index) + k];
    if (most < 0 || most > kMostUnits) {
      throw DataError("table {}: 'table_most_units' must be 0 to {}, got {}", index, kMostUnits,
                      most);
    }
    limits.Set(k, most);
  }
  return limits;
}

Configuration ConfigurationAt(const allot_snapshot& s, std::int32_t index, std::size_t at,
                              const std::vector<UnitKind>& kinds) {
  Configuration c;
  const std::int32_t type = s.configuration_type == nullptr ? 0 : s.configuration_type[at];
  if (type < 0 || type >= s.type_count) {
    throw DataError("table {}: 'configuration_type' must be one of {} GPU types, got {}", index,
                    s.type_count, type);
  }
  c.gpu_type = static_cast<GpuTypeIndex>(type);
  for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
    const std::int32_t units = s.configuration_units[2 * at + k];
    const std::int32_t most = k < kinds.size() ? kMostUnits : 0;
    if (units < 0 || units > most) {
      throw DataError("table {}: 'configuration_units' of kind {} must be 0 to {}, got {}", index,
                      k, most, units);
    }
    c.units.Set(k, units);
    if (k >= kinds.size()) continue;
    c.demand += kinds[k].demand * units;
    c.cost += kinds[k].price * units;
  }
  const std::int32_t least =
      s.configuration_least_nodes == nullptr ? 1 : s.configuration_least_nodes[at];
  const std::int32_t most =
      s.configuration_most_nodes == nullptr ? 0 : s.configuration_most_nodes[at];
  if (least < 1 || least >= Span::kAny || most < 0 || most >= Span::kAny ||
      (most > 0 && most < least)) {
    throw DataError("table {}: a configuration lies on 1 node or more, at least {} and at most {}",
                    index, least, most);
  }
  c.span = {static_cast<Span::Count>(least),
            most == 0 ? Span::kAny : static_cast<Span::Count>(most)};
  c.rate = s.configuration_rate[at];
  if (!(c.cost > 0) || !std::isfinite(c.rate)) {
    throw DataError(
        "table {}: a configuration must cost something and have a finite rate, got {} and {}",
        index, c.cost, c.rate);
  }
  return c;
}

// Numbers mean the same on both sides only where the order is the library's own.
void CheckOrder(const std::vector<Configuration>& configurations, std::int32_t index) {
  const Configuration& last = configurations.back();
  for (auto before = configurations.rbegin() + 1; before != configurations.rend(); ++before) {
    if (before->gpu_type != last.gpu_type || before->cost != last.cost) break;
    if (before->key() == last.key()) {
      throw DataError("table {}: each configuration once, got {} units of type {} twice", index,
                      fmt::join(last.units.counts(), " and "), last.gpu_type);
    }
  }
  if (configurations.size() < 2) return;
  const Configuration& before = configurations[configurations.size() - 2];
  if (std::tie(before.gpu_type, before.cost) > std::tie(last.gpu_type, last.cost)) {
    throw DataError("table {}: configurations ascend by (type, price), got ({}, {}) after ({}, {})",
                    index, last.gpu_type, last.cost, before.gpu_type, before.cost);
  }
}

ConfigurationTable MakeTable(const allot_snapshot& s, std::int32_t index) {
  const std::vector<UnitKind> kinds = KindsOf(s, index);
  const UnitCounts limits = LimitsOf(s, index);
  std::vector<Configuration> configurations;
  bool progresses = false;
  std::int64_t most[kMaxUnitKinds] = {};
  for (std::size_t at = At(s.configuration_begin[index]); at < At(s.configuration_begin[index + 1]);
       ++at) {
    configurations.push_back(ConfigurationAt(s, index, at, kinds));
    CheckOrder(configurations, index);
    const Configuration& c = configurations.back();
    progresses |= c.rate > 0 && c.units.FitsIn(limits);
    for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
      most[k] = std::max<std::int64_t>(most[k], c.units.of(k));
    }
  }
  if (!progresses) {
    throw DataError("table {}: one of its {} configurations must have 'configuration_rate' > 0",
                    index, configurations.size());
  }
  const std::int64_t places = (most[0] + 1) * (most[1] + 1) * s.type_count;
  if (places > kMostPlaces) {
    throw DataError("table {}: its units and types span at most {} combinations, got {}", index,
                    kMostPlaces, places);
  }
  const char* name = s.table_name == nullptr ? "table" : s.table_name[index];
  return {name, kinds, std::move(configurations), limits};
}

}  // namespace

const std::vector<const ConfigurationTable*>& TableStore::Read(const allot_snapshot& snapshot) {
  ++snapshot_;
  last_.insert(last_.end(), now_.begin(), now_.end());  // of a snapshot that broke a rule
  now_.clear();
  read_.clear();
  next_ = 0;
  for (std::int32_t t = 0; t < snapshot.table_count; ++t) {
    Tables::value_type* const table = Find(snapshot, t);
    table->second.used = snapshot_;
    table->second.place = now_.size();
    now_.push_back(table);
    read_.push_back(&table->second.table);
  }
  ForgetUnused();
  last_.swap(now_);
  now_.clear();
  return read_;
}

TableStore::Tables::value_type* TableStore::Find(const allot_snapshot& snapshot,
                                                 std::int32_t index) {
  const std::int32_t kinds = snapshot.table_kinds == nullptr ? 1 : snapshot.table_kinds[index];
  if (kinds < 1 || kinds > kMaxUnitKinds || (kinds > 1 && snapshot.kind_name == nullptr)) {
    throw DataError("table {}: 'table_kinds' must be 1 to {}, got {}", index,
                    snapshot.kind_name == nullptr ? 1 : kMaxUnitKinds, kinds);
  }
  for (std::int32_t k = 0; snapshot.kind_name != nullptr && k < kinds; ++k) {
    if (snapshot.kind_name[2 * At(index) + At(k)] == nullptr) {
      throw UsageError("table {}: 'kind_name' must name each of its {} kinds, {} is NULL", index,
                       kinds, k);
    }
  }
  // As the last time, or one further where one was replaced or has gone.
  for (std::size_t place = next_; place < std::min(next_ + 2, last_.size()); ++place) {
    if (!HasBytes(snapshot, index, last_[place]->first)) continue;
    next_ = place + 1;
    return last_[place];
  }
  key_.clear();
  VisitBytes(snapshot, index, [this](const char* bytes, std::size_t count) {
    key_.append(bytes, count);
    return true;
  });
  const auto known = tables_.find(key_);
  if (known == tables_.end()) {
    return &*tables_.emplace(key_, Kept{.table = MakeTable(snapshot, index)}).first;
  }
  const std::size_t place = known->second.place;
  if (place < last_.size() && last_[place] == &*known) next_ = place + 1;
  return &*known;
}

void TableStore::ForgetUnused() {
  constexpr std::uint64_t kForgotten = 0;
  std::size_t unused = 0;
  for (Tables::value_type* const table : last_) {
    std::uint64_t& used = table->second.used;
    if (used == snapshot_ || used == kForgotten) continue;  // one may have been listed twice
    used = kForgotten;
    last_[unused++] = table;
  }
  last_.resize(unused);
  for (const Tables::value_type* table : last_) tables_.erase(tables_.find(table->first));
}

}  // namespace allot
