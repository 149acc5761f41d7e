#include "plugin/table_store.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index.h"

namespace allot {
namespace {

static_assert(ALLOT_UNIT_KINDS == kMaxUnitKinds);
constexpr std::int32_t kMostUnits = kMaxGpusPerJob;
constexpr std::int32_t kMostCpus = 2'000;                    // of a unit
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 22;  // of a table's index by units

template <typename T>
void Append(const T* values, std::size_t count, std::string* key) {
  key->append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

// What makes a table: equal ones have equal bytes.
void BytesOf(const allot_snapshot& s, std::int32_t index, std::string* key) {
  const std::size_t t = At(index);
  const std::int32_t kinds = s.table_kinds == nullptr ? 1 : s.table_kinds[t];
  const std::size_t begin = At(s.configuration_begin[t]);
  const std::size_t count = At(s.configuration_begin[t + 1]) - begin;
  const std::size_t shape[] = {At(kinds),
                               count,
                               s.kind_name != nullptr,
                               s.table_most_units != nullptr,
                               s.configuration_type != nullptr,
                               s.configuration_least_nodes != nullptr,
                               s.configuration_most_nodes != nullptr};
  key->clear();
  Append(shape, std::size(shape), key);
  if (s.kind_name != nullptr) {
    for (std::size_t k = 2 * t; k < 2 * t + At(kinds); ++k) {
      key->append(s.kind_name[k]).push_back('\0');
    }
    Append(s.kind_gpus + 2 * t, At(kinds), key);
    Append(s.kind_cpus + 2 * t, At(kinds), key);
    Append(s.kind_price + 2 * t, At(kinds), key);
  }
  if (s.table_most_units != nullptr) Append(s.table_most_units + 2 * t, 2, key);
  if (s.configuration_type != nullptr) Append(s.configuration_type + begin, count, key);
  Append(s.configuration_units + 2 * begin, 2 * count, key);
  Append(s.configuration_rate + begin, count, key);
  if (s.configuration_least_nodes != nullptr) {
    Append(s.configuration_least_nodes + begin, count, key);
  }
  if (s.configuration_most_nodes != nullptr) {
    Append(s.configuration_most_nodes + begin, count, key);
  }
  if (s.table_name != nullptr) key->append(s.table_name[t]);
}

std::vector<UnitKind> KindsOf(const allot_snapshot& s, std::int32_t index) {
  if (s.kind_name == nullptr) return {{"gpu", {1, 0}}};
  std::vector<UnitKind> kinds;
  for (std::size_t k = 2 * At(index); kinds.size() < At(s.table_kinds ? s.table_kinds[index] : 1);
       ++k) {
    const Resources demand{s.kind_gpus[k], s.kind_cpus[k]};
    if (demand.gpus < 0 || demand.gpus > kMaxGpusPerNode || demand.cpus < 0 ||
        demand.cpus > kMostCpus) {
      throw DataError("table {}: a unit needs 0 to {} GPUs and 0 to {} CPUs, got {} and {}", index,
                      kMaxGpusPerNode, kMostCpus, demand.gpus, demand.cpus);
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

const ConfigurationTable* TableStore::Get(const allot_snapshot& snapshot, std::int32_t index) {
  const std::int32_t kinds = snapshot.table_kinds == nullptr ? 1 : snapshot.table_kinds[index];
  if (kinds < 1 || kinds > kMaxUnitKinds || (kinds > 1 && snapshot.kind_name == nullptr)) {
    throw DataError("table {}: 'table_kinds' must be 1 to {}, got {}", index,
                    snapshot.kind_name == nullptr ? 1 : kMaxUnitKinds, kinds);
  }
  BytesOf(snapshot, index, &key_);
  auto known = tables_.find(key_);
  if (known == tables_.end()) {
    known = tables_.emplace(key_, Kept{MakeTable(snapshot, index), 0}).first;
  }
  known->second.used = snapshot_;
  return &known->second.table;
}

void TableStore::EndSnapshot() {
  std::erase_if(tables_, [this](const auto& kept) { return kept.second.used != snapshot_; });
  ++snapshot_;
}

}  // namespace allot
