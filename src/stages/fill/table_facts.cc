#include "stages/fill/table_facts.h"

#include <algorithm>
#include <cmath>

#include "core/index.h"
#include "stages/fill/sized_types.h"

namespace allot {
namespace {

constexpr std::size_t kAhead = 32;  // so many jobs in a row may have gone

}  // namespace

void TableFacts::Read(const Observation& o, std::span<const std::int32_t> order) {
  facts_.swap(last_);
  rates_.swap(last_rates_);
  if (types_ != o.cluster->types().size()) last_.clear();
  types_ = o.cluster->types().size();
  facts_.resize(order.size());
  rates_.resize(order.size() * types_);
  std::size_t next = 0;                              // of the last ones
  std::size_t searches = kAhead + order.size() / 8;  // that may fail: else the order is another
  for (std::size_t place = 0; place < order.size(); ++place) {
    const ConfigurationTable* const table = o.table[allot::At(order[place])];
    const std::size_t end = searches > 0 ? std::min(next + kAhead, last_.size()) : next;
    std::size_t found = next;
    while (found < end && last_[found].table != table) ++found;
    if (found < end) {
      next = found + 1;
    } else if (searches > 0) {
      --searches;
    }
    if (found < end && last_[found].fingerprint == table->fingerprint()) {
      facts_[place] = last_[found];
      std::copy_n(last_rates_.begin() + static_cast<std::ptrdiff_t>(found * types_), types_,
                  rates_.begin() + static_cast<std::ptrdiff_t>(place * types_));
    } else {
      facts_[place] = {table, table->fingerprint(), SmallestSize(*table), HasOneSize(*table)};
    }
  }
}

void TableFacts::ReadSize(std::size_t place, std::int32_t size) {
  const ConfigurationTable& table = *facts_[place].table;
  double* const rates = &rates_[place * types_];
  std::fill_n(rates, types_, 0);
  AtSize& at = facts_[place].at;
  at = {.size = size, .gpus = table[size].demand.gpus};
  for (const GpuTypeIndex type : table.types()) {
    const std::int32_t there = table.OnType(size, type);
    if (there < 0 || !(table[there].rate > 0)) continue;
    rates[allot::At(type)] = table[there].rate;
    at.best = std::max(at.best, table[there].rate);
  }
  if (at.best > 0) at.log_speed = std::log(at.best / table.reference_rate());
}

}  // namespace allot
