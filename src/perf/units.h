#pragma once
// What a job is made of, and what that takes: demands, kinds of unit, numbers of units.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/types.h"

namespace allot {

// A demand or a capacity. Componentwise.
struct Resources {
  std::int32_t gpus = 0;  // GPUs, or a profile's GPU slots (DL2: 4 slots = 1 GPU)
  std::int32_t cpus = 0;
  std::int64_t memory_mb = 0;  // of the host; a node that states none has kUnlimitedMemory

  Resources& operator+=(const Resources& o) {
    gpus += o.gpus;
    cpus += o.cpus;
    memory_mb += o.memory_mb;
    return *this;
  }
  Resources& operator-=(const Resources& o) {
    gpus -= o.gpus;
    cpus -= o.cpus;
    memory_mb -= o.memory_mb;
    return *this;
  }
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
  friend Resources operator*(const Resources& a, std::int32_t n) {
    return {a.gpus * n, a.cpus * n, a.memory_mb * n};
  }
  friend bool operator==(const Resources&, const Resources&) = default;
  bool FitsIn(const Resources& o) const {
    return gpus <= o.gpus && cpus <= o.cpus && memory_mb <= o.memory_mb;
  }
};
inline constexpr std::int64_t kUnlimitedMemory = std::int64_t{1} << 40;  // an exabyte a node

// GPUs in the usual world, workers and parameter servers in DL2's.
inline constexpr int kMaxUnitKinds = 2;
struct UnitKind {
  std::string name;  // "gpu", "worker", "ps"
  Resources demand;  // of one unit; a unit lives on one node
  double price = 1;  // of one unit; a configuration's cost is the sum over its units
};

// How many units of each kind, 0 of those that a job does not have. A value of 4 bytes.
class UnitCounts {
 public:
  using Count = std::int16_t;

  // {4}: 4 of the first kind; {4, 2}: and 2 of the second.
  constexpr UnitCounts(int first = 0, int second = 0)  // NOLINT(google-explicit-constructor)
      : counts_{static_cast<Count>(first), static_cast<Count>(second)} {}
  // `count` of each of the first `kinds` kinds.
  static constexpr UnitCounts OfEach(std::size_t kinds, int count) {
    return {kinds > 0 ? count : 0, kinds > 1 ? count : 0};
  }

  constexpr int of(std::size_t kind) const { return counts_[kind]; }
  constexpr void Set(std::size_t kind, int count) { counts_[kind] = static_cast<Count>(count); }
  constexpr void Add(std::size_t kind, int more = 1) { Set(kind, counts_[kind] + more); }

  constexpr bool none() const { return counts_[0] == 0 && counts_[1] == 0; }
  constexpr bool FitsIn(const UnitCounts& o) const {
    return counts_[0] <= o.counts_[0] && counts_[1] <= o.counts_[1];
  }
  UnitCounts& operator+=(const UnitCounts& o) {
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) Add(kind, o.counts_[kind]);
    return *this;
  }
  UnitCounts& operator-=(const UnitCounts& o) {
    for (std::size_t kind = 0; kind < counts_.size(); ++kind) Add(kind, -o.counts_[kind]);
    return *this;
  }
  friend UnitCounts operator+(UnitCounts a, const UnitCounts& b) { return a += b; }
  friend UnitCounts operator-(UnitCounts a, const UnitCounts& b) { return a -= b; }
  // Spelled out: the default one compares the array through memcmp, on the hottest path.
  friend constexpr bool operator==(const UnitCounts& a, const UnitCounts& b) {
    return a.counts_[0] == b.counts_[0] && a.counts_[1] == b.counts_[1];
  }
  friend constexpr bool operator<(const UnitCounts& a, const UnitCounts& b) {
    return a.counts_ < b.counts_;
  }

  // One number a kind, kMaxUnitKinds of them: for logs and interfaces.
  const std::array<Count, kMaxUnitKinds>& counts() const { return counts_; }

 private:
  std::array<Count, kMaxUnitKinds> counts_;
};
inline constexpr GpuCount kMaxGpusPerJob = std::numeric_limits<UnitCounts::Count>::max();

// What so many units take together.
inline Resources DemandOf(const std::vector<UnitKind>& kinds, const UnitCounts& units) {
  Resources demand;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    demand += kinds[kind].demand * units.of(kind);
  }
  return demand;
}

}  // namespace allot
