#pragma once
// A cluster as policies see it while constraints hide some of its jobs and GPUs: without the rows
// of hidden jobs, and without their GPUs, CPUs and memory. The GPUs that are left on a node are
// numbered from 0. Translates answers back to the machines' numbers, with what hidden jobs have.
// Part of ConstrainedCluster.

#include <cstdint>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/event_finder.h"
#include "cluster/observation.h"
#include "rules/constraints.h"

namespace allot {

class ConstrainedView {
 public:
  // `next_decision`: with the events since the decision before; else with none. O(rows + shares +
  // nodes).
  void Show(const Observation& all, const Constraints& constraints, bool next_decision);
  const Observation& shown() const { return shown_; }
  // Whether each row of `all` is hidden, which includes jobs that share GPUs with a hidden one.
  const std::vector<bool>& hidden() const { return hidden_; }
  // GPUs of a node that decisions can give, in the machine's numbers.
  std::uint64_t GivableOn(NodeIndex node) const;

  // Writes a legal answer to what was shown last in the machines' numbers. Entries of hidden jobs
  // follow those of the answer. `all`: as shown last.
  void Translate(const Observation& all, const Allocation& answer, Allocation* full) const;

 private:
  void Hide(const Observation& all, const Constraints& constraints);
  void Withhold(const Observation& all, const Constraints& constraints);
  void ShowNodes(const Observation& all);
  void ShowRows(const Observation& all);
  void ShowLent(const Observation& all);
  void ShowEvents(const Observation& all);

  ClusterSpec cluster_;
  std::vector<bool> hidden_;
  std::vector<std::int32_t> hidden_rows_;
  std::vector<std::uint64_t> withheld_;  // by node
  std::vector<Resources> pinned_;        // by node: what hidden jobs have
  std::vector<bool> known_;  // by job: it was shown, and its end is still to be reported
  Observation shown_;
  EventFinder finder_;
};

}  // namespace allot
