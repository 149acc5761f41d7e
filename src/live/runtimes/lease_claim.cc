#include "live/runtimes/lease_claim.h"

#include <cmath>
#include <utility>

namespace allot {

LeaseClaim::LeaseClaim(std::string self, LeaseTiming timing)
    : self_(std::move(self)), timing_(timing) {}

std::optional<Lease> LeaseClaim::Next(const Lease& lease, Seconds now, const std::string& time) {
  if (lease != seen_) {
    seen_ = lease;
    since_ = now;
  }
  const bool ours = lease.holder == self_;
  if (!ours) renewed_ = -kNever;
  const Seconds theirs = lease.duration > 0 ? lease.duration : timing_.duration;
  if (!ours && !lease.holder.empty() && now < since_ + theirs) return std::nullopt;
  return Lease{.holder = self_,
               .duration = std::ceil(timing_.duration),
               .acquired = ours ? lease.acquired : time,
               .renewed = time,
               .changes = ours ? lease.changes : lease.changes + 1};
}

}  // namespace allot
