#include "stages/fill/pair_rates.h"

#include <algorithm>

#include "core/index.h"

namespace allot {

std::int32_t Beside(const ConfigurationTable& table, const UnitCounts& units,
                    const std::string& profile, GpuTypeIndex type) {
  const auto& partners = table.partners();
  const auto partner = std::find(partners.begin(), partners.end(), profile);
  if (partner == partners.end()) return -1;
  return table.Find(
      ConfigurationKey(units, type, {}, static_cast<std::int16_t>(partner - partners.begin())));
}

std::int32_t PairRates::NameOf(const std::string& name) {
  return names_.try_emplace(name, static_cast<std::int32_t>(names_.size())).first->second;
}

std::int32_t PairRates::KindOf(const ConfigurationTable& table, std::int32_t size,
                               std::size_t types) {
  const auto [at, added] =
      numbers_.try_emplace({table.fingerprint(), size}, static_cast<std::int32_t>(known_.size()));
  if (!added) return at->second;
  Kind kind;
  kind.name = NameOf(table.name());
  for (const std::string& partner : table.partners()) {
    const auto name = At(NameOf(partner));
    if (kind.beside.size() < (name + 1) * types) kind.beside.resize((name + 1) * types, 0);
    for (std::size_t g = 0; g < types; ++g) {
      const auto type = static_cast<GpuTypeIndex>(g);
      const std::int32_t alone = table.OnType(size, type);
      const std::int32_t c = Beside(table, table[size].units, partner, type);
      if (alone < 0 || c < 0 || !(table[alone].rate > 0)) continue;
      kind.beside[name * types + g] = std::max(0.0, table[c].rate / table[alone].rate);
    }
  }
  known_.push_back(std::move(kind));
  return at->second;
}

void PairRates::Read(const Observation& o, const TypeQuestion& question) {
  const std::size_t types = o.cluster->types().size();
  if (known_.size() > kMostRemembered || types != types_) {
    known_.clear();
    numbers_.clear();
    types_ = types;
  }
  for (const std::int32_t kind : used_) {
    if (At(kind) < known_.size()) known_[At(kind)].used = -1;
  }
  used_.clear();
  kind_.clear();
  for (std::size_t i = 0; i < question.order.size(); ++i) {
    const std::int32_t number = KindOf(*o.table[At(question.order[i])], question.sizes[i], types);
    Kind& kind = known_[At(number)];
    if (kind.used < 0) {
      kind.used = static_cast<std::int32_t>(used_.size());
      used_.push_back(number);
    }
    kind_.push_back(kind.used);
  }
  beside_.assign(used_.size() * used_.size() * types, 0);
  for (std::size_t a = 0; a < used_.size(); ++a) {
    const Kind& first = known_[At(used_[a])];
    for (std::size_t b = 0; b < used_.size(); ++b) {
      const std::size_t from = At(known_[At(used_[b])].name) * types;
      if (from + types > first.beside.size()) continue;
      std::copy_n(first.beside.begin() + static_cast<std::ptrdiff_t>(from), types,
                  beside_.begin() + static_cast<std::ptrdiff_t>((a * used_.size() + b) * types));
    }
  }
}

}  // namespace allot
