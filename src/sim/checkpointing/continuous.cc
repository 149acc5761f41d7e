// At every moment and for nothing: a failure loses no work. What jobs do whose state is in the
// memory of other nodes, too, and the default where no law says how often nodes fail.

#include "sim/checkpoint_rule.h"

namespace allot {
namespace {

class ContinuousCheckpoints : public CheckpointRule {
 public:
  Checkpoints Of(std::int32_t, double) const override { return {}; }
};

ALLOT_REGISTER(CheckpointRuleInfo,
               (CheckpointRuleInfo{.id = "continuous",
                                   .summary = "at every moment, for nothing",
                                   .params = {},
                                   .make = [](const Params&) {
                                     return std::make_unique<ContinuousCheckpoints>();
                                   }}));

}  // namespace
}  // namespace allot
