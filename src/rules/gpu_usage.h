#pragma once
// GPU time that the users of each account have used, decayed: what was used one half-life ago
// counts half. Fair shares (rules/fair_shares.h) decide by it who comes first. Whoever knows what
// jobs used keeps one: the daemon's job table, and the rules of a simulation. A value.

#include <compare>
#include <cstdint>
#include <map>

#include "core/types.h"

namespace allot {

// Whose job it is; -1: not known. Numbers are their owner's.
struct Submitter {
  std::int32_t account = -1;
  std::int32_t user = -1;
  friend auto operator<=>(const Submitter&, const Submitter&) = default;
};

class GpuUsage {
 public:
  explicit GpuUsage(Seconds half_life) : half_life_(half_life) {}
  void SetHalfLife(Seconds half_life) { half_life_ = half_life; }

  // GPU seconds that were used up to `now`. Times ascend.
  void Add(Submitter submitter, double gpu_seconds, Seconds now);

  // Decayed GPU seconds. O(log users), and for an account O(users of it).
  double Of(Submitter submitter, Seconds now) const;
  double OfAccount(std::int32_t account, Seconds now) const;

  struct Entry {
    double gpu_seconds = 0;
    Seconds at = 0;
  };
  const std::map<Submitter, Entry>& entries() const { return entries_; }

 private:
  double Decayed(const Entry& entry, Seconds now) const;

  Seconds half_life_;
  std::map<Submitter, Entry> entries_;
};

}  // namespace allot
