#include "plugin/table_arrays.h"

#include "core/index.h"

namespace allot {

const std::vector<std::int32_t>& TableArrays::Number(
    const std::vector<const ConfigurationTable*>& tables) {
  MarkKnown(tables);
  if (2 * unused_.size() > size()) {
    Forget();
    MarkKnown(tables);
  }
  for (const std::size_t row : new_rows_) number_[row] = NumberOf(*tables[row]);
  return number_;
}

void TableArrays::MarkKnown(const std::vector<const ConfigurationTable*>& tables) {
  ++snapshot_;
  number_.resize(tables.size());
  new_rows_.clear();
  for (std::size_t row = 0; row < tables.size(); ++row) {
    const auto known = number_of_.find(tables[row]->fingerprint());
    if (known == number_of_.end()) {
      new_rows_.push_back(row);
    } else {
      number_[row] = known->second;
      used_[At(known->second)] = snapshot_;
    }
  }
  unused_.clear();
  for (std::size_t number = 0; number < size(); ++number) {
    if (used_[number] != snapshot_) unused_.push_back(number);
  }
}

void TableArrays::Forget() {
  const std::uint64_t snapshot = snapshot_;
  *this = TableArrays();
  snapshot_ = snapshot;
}

std::int32_t TableArrays::NumberOf(const ConfigurationTable& table) {
  const auto known = number_of_.find(table.fingerprint());  // another new row may have it
  if (known != number_of_.end()) return known->second;
  const std::size_t number = RoomFor(At(table.size()));
  Write(table, number);
  fingerprint_[number] = table.fingerprint();
  used_[number] = snapshot_;
  number_of_[table.fingerprint()] = static_cast<std::int32_t>(number);
  return static_cast<std::int32_t>(number);
}

// In place of an unused table of as many configurations, or behind all.
std::size_t TableArrays::RoomFor(std::size_t configurations) {
  if (!unused_.empty()) {
    const std::size_t number = unused_.back();
    const auto count = configuration_begin_[number + 1] - configuration_begin_[number];
    if (At(count) == configurations) {
      unused_.pop_back();
      number_of_.erase(fingerprint_[number]);
      return number;
    }
  }
  const auto resize = [](std::size_t count, auto&... columns) { (columns.resize(count), ...); };
  const std::size_t tables = size() + 1;
  resize(tables, fingerprint_, used_, names_, table_name_, table_kinds_);
  resize(kMaxUnitKinds * tables, kind_name_, kind_gpus_, kind_cpus_, kind_price_,
         table_most_units_);
  if (configuration_begin_.empty()) configuration_begin_.push_back(0);
  const std::size_t end = configuration_rate_.size() + configurations;
  configuration_begin_.push_back(static_cast<std::int32_t>(end));
  resize(end, configuration_type_, configuration_rate_, configuration_least_nodes_,
         configuration_most_nodes_);
  configuration_units_.resize(kMaxUnitKinds * end);
  return tables - 1;
}

void TableArrays::Write(const ConfigurationTable& table, std::size_t number) {
  Names& names = names_[number];
  names.table = table.name();
  table_name_[number] = names.table.c_str();
  table_kinds_[number] = static_cast<std::int32_t>(table.kinds().size());
  for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
    const UnitKind kind = k < table.kinds().size() ? table.kinds()[k] : UnitKind{"", {}, 0};
    const std::size_t at = kMaxUnitKinds * number + k;
    names.kinds[k] = kind.name;
    kind_name_[at] = names.kinds[k].c_str();
    kind_gpus_[at] = kind.demand.gpus;
    kind_cpus_[at] = kind.demand.cpus;
    kind_price_[at] = kind.price;
    table_most_units_[at] = table.limits().of(k);
  }
  std::size_t at = At(configuration_begin_[number]);
  for (const Configuration& c : table.configurations()) {
    configuration_type_[at] = std::int32_t{c.gpu_type};
    for (std::size_t k = 0; k < kMaxUnitKinds; ++k) {
      configuration_units_[kMaxUnitKinds * at + k] = c.units.of(k);
    }
    configuration_rate_[at] = c.rate;
    configuration_least_nodes_[at] = c.span.least;
    configuration_most_nodes_[at] = c.span.most == Span::kAny ? 0 : c.span.most;
    ++at;
  }
}

void TableArrays::PointTo(allot_snapshot* s) const {
  s->table_count = static_cast<std::int32_t>(size());
  s->table_name = table_name_.data();
  s->table_kinds = table_kinds_.data();
  s->kind_name = kind_name_.data();
  s->kind_gpus = kind_gpus_.data();
  s->kind_cpus = kind_cpus_.data();
  s->kind_price = kind_price_.data();
  s->table_most_units = table_most_units_.data();
  s->configuration_begin = configuration_begin_.data();
  s->configuration_type = configuration_type_.data();
  s->configuration_units = configuration_units_.data();
  s->configuration_rate = configuration_rate_.data();
  s->configuration_least_nodes = configuration_least_nodes_.data();
  s->configuration_most_nodes = configuration_most_nodes_.data();
}

}  // namespace allot
