#pragma once
// What accounts are guaranteed (cluster/guaranteed_shares.h), on a live cluster. Jobs that policies
// do not see, as they are pinned or a rule fixes them, count with what they have. LiveCluster is
// the only caller.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/guaranteed_shares.h"
#include "cluster/observation.h"
#include "cluster/operator_rules.h"
#include "live/state/job_table.h"

namespace allot {

class LiveGuarantees {
 public:
  // Null, or rules without guarantees: every answer stays as it is.
  explicit LiveGuarantees(std::shared_ptr<const OperatorRules> rules);

  // A legal answer to this observation of these jobs, put right where it leaves an account below
  // its guarantee; legal, too. Valid until the next call, or as long as `answer`.
  const Allocation& Kept(const Observation& observation, const JobTable& table,
                         const Allocation& answer);
  bool put_right() const { return put_right_; }  // the last answer

 private:
  void FindOwners(const Observation& observation, const JobTable& table);

  std::shared_ptr<const OperatorRules> rules_;
  std::optional<GuaranteedShares> shares_;  // nullopt: none
  std::vector<std::int32_t> owner_;         // by row: index of a guarantee, -1: none
  std::vector<GpuCount> hidden_;            // by guarantee: what jobs that are no rows have of it
  bool put_right_ = false;
};

}  // namespace allot
