#pragma once
// The name of a configuration: which units, on which GPU type, over how many nodes, beside whom.
// Keys are compared, hashed, written and read back; only src/perf looks inside. A configuration's
// index is of one table, its key is the same in every table of the profile.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "perf/units.h"

namespace allot {

// How many nodes a job's units lie on. {1, 1}: one node; {2, kAny}: several; {1, kAny}: all one.
struct Span {
  using Count = std::int16_t;
  static constexpr Count kAny = std::numeric_limits<Count>::max();

  Count least = 1;
  Count most = kAny;

  constexpr bool any() const { return least <= 1 && most == kAny; }
  constexpr bool Holds(std::size_t nodes) const {
    return nodes >= static_cast<std::size_t>(least) &&
           (most == kAny || nodes <= static_cast<std::size_t>(most));
  }
  friend bool operator==(const Span&, const Span&) = default;
};

// "1", "2+", "2-4", "any"; DataError naming the text for what is none of these.
std::string TextOf(const Span& span);
Span ParseSpan(std::string_view text);

// GPUs on as few nodes of `node_gpus` as the span allows, the first ones full: what the rate of a
// configuration is of. Empty where no such nodes hold them.
std::vector<UnitCounts> FewestNodes(GpuCount gpus, GpuCount node_gpus, const Span& span);

inline constexpr std::int16_t kNoPartner = -1;

class ConfigurationKey {
 public:
  ConfigurationKey() = default;
  ConfigurationKey(const UnitCounts& units, GpuTypeIndex gpu_type, Span span = {},
                   std::int16_t partner = kNoPartner)
      : units_(units), gpu_type_(gpu_type), partner_(partner), span_(span) {}

  const UnitCounts& units() const { return units_; }
  GpuTypeIndex gpu_type() const { return gpu_type_; }
  const Span& span() const { return span_; }
  // The profile that shares its GPUs, by position in the table's partners(); kNoPartner: alone.
  std::int16_t partner() const { return partner_; }

  friend bool operator==(const ConfigurationKey&, const ConfigurationKey&) = default;

 private:
  UnitCounts units_;
  GpuTypeIndex gpu_type_ = 0;
  std::int16_t partner_ = kNoPartner;
  Span span_;
};

// What the numbers in a key stand for.
struct KeyNames {
  const std::vector<UnitKind>& kinds;
  const std::vector<std::string>& gpu_types;
  const std::vector<std::string>& partners;
};

// "gpus=4 type=v100 nodes=1 partner=lm:10", "worker=2 ps=1 type=gpu": units by kind (those of kind
// "gpu" are called gpus), the type, the span unless any, the partner if there is one.
std::string TextOf(const ConfigurationKey& key, const KeyNames& names);
// The same back, the partner last; DataError naming the text, and the known names, for what is
// none.
ConfigurationKey ParseKey(std::string_view text, const KeyNames& names);

}  // namespace allot

template <>
struct std::hash<allot::ConfigurationKey> {
  std::size_t operator()(const allot::ConfigurationKey& key) const noexcept {
    std::uint64_t word = 0;
    for (const auto count : key.units().counts()) {
      word = word << 16 | static_cast<std::uint16_t>(count);
    }
    word = word << 8 | static_cast<std::uint8_t>(key.gpu_type());
    std::uint64_t rest = static_cast<std::uint16_t>(key.span().least);
    rest = rest << 16 | static_cast<std::uint16_t>(key.span().most);
    rest = rest << 16 | static_cast<std::uint16_t>(key.partner());
    return (word * 0x9e3779b97f4a7c15ULL ^ rest) * 0xff51afd7ed558ccdULL >> 7;
  }
};
