#pragma once
// A cluster as policies see it while rules fix some of its jobs: without the rows of these, and
// without their GPUs, CPUs and memory. What is left of a node's GPUs closes up, as policies count
// from 0. Answers are told in the machines' own numbers again, with what fixed jobs have. Policies
// need not know of rules, and cannot break them. Used by SimulatedCluster; LiveCluster does the
// same to what a runtime shows (live/port/policy_view.h).
//
// To a policy a job that is fixed has gone, without an end, and arrives again when it is released.

#include <cstdint>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/event_finder.h"
#include "cluster/observation.h"

namespace allot {

class RuledView {
 public:
  // `fixed`: by row of `all`. `closed`: by node, GPUs that are to be given to nobody; empty: none.
  // `tell`: once a decision, with events; else none are told. O(rows + shares + nodes).
  void Show(const Observation& all, const std::vector<bool>& fixed,
            const std::vector<std::uint64_t>& closed, bool tell);
  const Observation& shown() const { return shown_; }

  // An answer to what was shown last, which obeys the rules of allocations, in full.
  void Mean(const Observation& all, const Allocation& answer, Allocation* meant) const;

 private:
  void ShowNodes(const Observation& all, const std::vector<std::uint64_t>& closed);
  void ShowRows(const Observation& all, const std::vector<bool>& fixed);

  ClusterSpec cluster_;
  std::vector<std::uint64_t> withheld_;  // by node
  std::vector<Resources> taken_;         // by node, by fixed jobs
  std::vector<std::int32_t> fixed_rows_;
  Observation shown_;
  EventFinder finder_;
};

}  // namespace allot
