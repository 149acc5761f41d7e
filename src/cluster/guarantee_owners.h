#pragma once
// The account whose guarantee each job counts for: the input of GuaranteedShares on the rows that a
// policy sees, and on jobs with GPUs that are no rows. Simulated and live clusters fill it before
// each answer.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster_spec.h"
#include "cluster/operator_rules.h"
#include "core/index.h"
#include "perf/configuration.h"

namespace allot {

class GuaranteeOwners {
 public:
  // Begins anew; all outlive it. `owner`: by row, the number of its account's guarantee, -1: none.
  // `hidden`: by guarantee, the GPUs that jobs which are no rows have of it.
  GuaranteeOwners(const std::vector<Guarantee>& guarantees, const ClusterSpec& cluster,
                  std::vector<std::int32_t>* owner, std::vector<GpuCount>* hidden)
      : guarantees_(guarantees), cluster_(cluster), owner_(*owner), hidden_(*hidden) {
    owner_.clear();
    hidden_.assign(guarantees_.size(), 0);
  }

  void AddRow(std::int32_t guarantee) { owner_.push_back(guarantee); }  // the next one

  void AddHidden(std::int32_t guarantee, const Configuration& runs) {
    if (guarantee < 0) return;
    const std::string& type = guarantees_[At(guarantee)].gpu_type;
    const bool counts = type.empty() || type == cluster_.types()[At(runs.gpu_type)];
    if (counts) hidden_[At(guarantee)] += runs.demand.gpus;
  }

 private:
  const std::vector<Guarantee>& guarantees_;
  const ClusterSpec& cluster_;
  std::vector<std::int32_t>& owner_;
  std::vector<GpuCount>& hidden_;
};

}  // namespace allot
