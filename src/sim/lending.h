#pragma once
// Nodes that services lend to jobs: how many are lent at which time, what is guaranteed, and what
// services lack for it. All of it follows from the load of services and the lender's predictions,
// not from jobs, so that it is computed once for a scenario. A recall is announced `notice` before
// it takes effect; which nodes go is decided then (sim/changing_nodes.h). Used by Scenario.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/job_record.h"
#include "cluster/observation.h"
#include "sim/lender.h"

namespace allot {

struct LendingTerms {
  std::string services;  // for MakeServiceLoad
  std::string lender;    // for MakeLender
  Seconds notice = 0;    // between the announcement of a recall and its effect
};

// Immutable; thread-safe.
class Lending {
 public:
  struct Change {
    Seconds time = 0;
    std::int32_t nodes = 0;  // lent from now on
  };

  // UsageError for nodes that differ or for a notice below 0, and as MakeServiceLoad and
  // MakeLender.
  Lending(const LendingTerms& terms, const ClusterSpec& cluster, const ServiceSpan& span);

  Seconds notice() const { return notice_; }
  std::int32_t first() const { return changes_.front().nodes; }  // lent at time 0
  // Ascending by time, the first at time 0; each has another number of nodes than the one before.
  const std::vector<Change>& changes() const { return changes_; }

  // Sets the GPUs that are lent, down nodes included, and guaranteed (Observation). O(1).
  void Show(Seconds now, std::int32_t nodes_lent, Observation* observation) const;

  // Until the last job is submitted.
  const LendingFigures& figures() const { return figures_; }

 private:
  // Nodes beyond those that services need.
  std::int32_t NodesBeyond(double gpus_needed) const;

  Seconds notice_;
  std::int32_t nodes_;
  GpuCount gpus_per_node_;
  ServiceLoad load_;
  std::unique_ptr<const Lender> lender_;
  std::vector<Change> changes_;
  LendingFigures figures_;
};

}  // namespace allot
