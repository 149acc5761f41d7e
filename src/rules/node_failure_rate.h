#pragma once
// How often a node of a cluster fails: failures so far by the time that nodes were up, with one
// failure in 234 days of one node as what is believed before (584 faults of 400 servers in 349
// days: Shou et al., SIGCOMM'25). Nodes that fail within kOneEvent of another one are one failure,
// because most such are of a switch, or of people. One number for all nodes is enough for intervals
// of checkpoints, which depend on its root. A value, which a journal stores.

#include <optional>

#include "core/types.h"

namespace allot {

class NodeFailureRate {
 public:
  NodeFailureRate() = default;
  NodeFailureRate(double node_seconds, double failures, std::optional<Seconds> failed_at)
      : node_seconds_(node_seconds), failures_(failures), failed_at_(failed_at) {}

  void Pass(double node_seconds) { node_seconds_ += node_seconds; }  // in which nodes were up
  void Fail(Seconds now) {
    if (!failed_at_ || now - *failed_at_ > kOneEvent) ++failures_;
    failed_at_ = now;
  }
  // Of one node, a second.
  double rate() const { return (1 + failures_) / (kNodeSecondsBefore + node_seconds_); }

  double node_seconds() const { return node_seconds_; }
  double failures() const { return failures_; }
  std::optional<Seconds> failed_at() const { return failed_at_; }  // the last time

  static constexpr Seconds kOneEvent = 900;
  static constexpr Seconds kNodeSecondsBefore = 234 * 86400.0;

 private:
  double node_seconds_ = 0;
  double failures_ = 0;
  std::optional<Seconds> failed_at_;
};

}  // namespace allot
