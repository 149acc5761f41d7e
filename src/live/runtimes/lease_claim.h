#pragma once
// Decides which of several daemons is active: the one that holds a lease and renews it. This class
// only decides; Kubernetes' API server (kubernetes/lease_keeper.h) or a folder of Slurm's
// (slurm/cluster_claim.h) stores the lease. Clocks of machines are never compared: another daemon's
// lease has expired when it has not changed for its duration by our own clock.

#include <cstdint>
#include <optional>
#include <string>

#include "core/types.h"

namespace allot {

struct Lease {
  std::string holder;             // "" for none, as in Kubernetes
  Seconds duration = 0;           // after which another daemon may take it; 0 if not given
  std::string acquired, renewed;  // times as text
  std::int64_t changes = 0;       // number of changes of the holder

  bool operator==(const Lease&) const = default;
};

struct LeaseTiming {
  Seconds duration = 12;  // after which another daemon may take it
  Seconds hold = 7;   // after the last renewal the daemon acts for so long only: pending requests
                      // must end before `duration`
  Seconds renew = 2;  // between renewals, and between reads of another daemon's lease
};

class LeaseClaim {
 public:
  // `self` must be unique among all daemons at all times.
  LeaseClaim(std::string self, LeaseTiming timing);

  // The lease to write over the stored `lease` (empty if there is none); nullopt while another
  // daemon holds it. `time` is now as text.
  std::optional<Lease> Next(const Lease& lease, Seconds now, const std::string& time);
  // The store has accepted the write that was requested at `asked`.
  void Written(Seconds asked) { renewed_ = asked; }

  bool held(Seconds now) const { return now < renewed_ + timing_.hold; }
  const std::string& holder() const { return seen_.holder; }  // at the last read; "" for none
  const std::string& self() const { return self_; }

 private:
  const std::string self_;
  const LeaseTiming timing_;
  Seconds renewed_ = -kNever;
  Lease seen_;  // at the last read
  Seconds since_ = -kNever;
};

}  // namespace allot
