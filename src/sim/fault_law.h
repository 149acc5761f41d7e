#pragma once
// How nodes fail at random and are repaired, are called back and lent again, or stay up and fail
// the jobs that start there. Laws are independent of what runs; each draws the outages of one node
// from a stream of its own, so that they do not depend on the number of nodes.
//
// A new one is a file in sim/faults/ that registers a FaultLawInfo, for --failures.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "core/registry.h"
#include "core/rng.h"
#include "core/types.h"

namespace allot {

struct Outage {
  Seconds down = 0;
  Seconds up = 0;

  friend bool operator==(const Outage&, const Outage&) = default;
};

// How starts of jobs fail where nodes do not go down.
struct StartFaults {
  double of_bad_node = 0;      // chance that a start fails by each bad node of it
  double by_chance = 0;        // chance that it fails by neither node nor job
  double broken_sessions = 0;  // share of the sessions of users whose jobs fail at every start
  Seconds repair = 0;          // mean time until somebody repairs a bad node
};

// Immutable; thread-safe.
class FaultLaw {
 public:
  virtual ~FaultLaw() = default;

  // Those of a node that begin before `horizon`: ascending and disjoint, each with down < up. The
  // same for the same seed and node.
  virtual std::vector<Outage> OutagesOf(std::uint64_t node, Seconds horizon,
                                        std::uint64_t seed) const = 0;
  // Failures of one node in a second in which it is up, in the long run; 0: it never fails.
  virtual double rate() const = 0;
  // Set where nodes do not fail but are called back: the jobs there know of it so long before.
  virtual std::optional<Seconds> notice() const { return std::nullopt; }
  // Set where nodes stay up in their outages, and fail the jobs that start there.
  virtual std::optional<StartFaults> starts() const { return std::nullopt; }
  // DataError where the law names nodes and none of the cluster's, which has so many.
  virtual void CheckNodes(std::size_t /*nodes*/) const {}

 protected:
  // The stream that the outages of a node are drawn from.
  static Rng StreamOf(std::uint64_t node, std::uint64_t seed) {
    return Rng(seed, "node-failures", node);
  }
  // Exponential times up and down in turn, of these means, from a time up on.
  static std::vector<Outage> ExponentialOutages(Seconds up, Seconds down, Seconds horizon, Rng rng);
};

struct FaultLawInfo {
  std::string id;
  std::string summary;
  std::vector<ParamSpec> params;
  // UsageError for values that the law does not accept, DataError for a file that it cannot read.
  std::function<std::unique_ptr<FaultLaw>(const Params&)> make;
};

// "renewal:rate=5". Null for "". UsageError with did-you-mean, or naming the range.
std::unique_ptr<FaultLaw> MakeFaultLaw(std::string_view spec);

}  // namespace allot
