#pragma once
// Which of several daemons is in charge: the holder of a Lease (coordination.k8s.io/v1), which it
// renews. Decisions alone, without requests: the keeper (lease_keeper.h) brings what the API shows.
// Clocks of machines are never compared: another's Lease is over when it has not changed for its
// duration by our own clock.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/types.h"

namespace allot {

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

  // The spec to be written over `lease`, as the API shows it (null: there is none); nullopt: it is
  // another's. `time`: now, for people.
  std::optional<nlohmann::json> Next(const nlohmann::json& lease, Seconds now,
                                     const std::string& time);
  // The write that was asked for at `asked` has been accepted.
  void Written(Seconds asked) { renewed_ = asked; }

  bool held(Seconds now) const { return now < renewed_ + timing_.hold; }
  const std::string& holder() const { return holder_; }  // as last seen; "": nobody
  const std::string& self() const { return self_; }

 private:
  const std::string self_;
  const LeaseTiming timing_;
  Seconds renewed_ = -kNever;
  std::string holder_;
  std::string seen_;  // the Lease as it was
  Seconds since_ = 0;
};

}  // namespace allot
