#pragma once
// Which of several daemons is in charge: the holder of a lease, which it renews. Decisions alone:
// what shows the lease to all daemons, and takes what is to be written, is Kubernetes' API server
// (kubernetes/lease_keeper.h) or a folder of Slurm's (slurm/cluster_claim.h), each in its own form.
// Clocks of machines are never compared: another's lease is over when it has not changed for its
// duration by our own clock.

#include <cstdint>
#include <optional>
#include <string>

#include "core/types.h"

namespace allot {

struct Lease {
  std::string holder;             // "": nobody
  Seconds duration = 0;           // after which another daemon may take it; 0: not said
  std::string acquired, renewed;  // times, for people
  std::int64_t changes = 0;       // of holders, since there are leases

  bool operator==(const Lease&) const = default;
};

struct LeaseTiming {
  Seconds duration = 12;  // after which another daemon may take it
  Seconds hold = 7;       // since the last renewal, after which we do nothing more: requests that
                          // are under way must end before `duration`
  Seconds renew = 2;      // between renewals, and looks at another's
};

class LeaseClaim {
 public:
  // `self` is no other daemon's, ever.
  LeaseClaim(std::string self, LeaseTiming timing);

  // What is to be written over `lease`, as it is shown (empty: there is none); nullopt: it is
  // another's. `time`: now, for people.
  std::optional<Lease> Next(const Lease& lease, Seconds now, const std::string& time);
  // The write that was asked for at `asked` has been accepted.
  void Written(Seconds asked) { renewed_ = asked; }

  bool held(Seconds now) const { return now < renewed_ + timing_.hold; }
  const std::string& holder() const { return seen_.holder; }  // as last seen; "": nobody
  const std::string& self() const { return self_; }

 private:
  const std::string self_;
  const LeaseTiming timing_;
  Seconds renewed_ = -kNever;
  Lease seen_;  // as it was at the last look
  Seconds since_ = -kNever;
};

}  // namespace allot
