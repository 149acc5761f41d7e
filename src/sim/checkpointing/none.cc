// None but by changes of allocation: a failure loses all that was done since the last.

#include "sim/checkpoint_rule.h"

namespace allot {
namespace {

class NoCheckpoints : public CheckpointRule {
 public:
  Checkpoints Of(std::int32_t, double) const override { return {.every = kNever}; }
};

ALLOT_REGISTER(CheckpointRuleInfo,
               (CheckpointRuleInfo{
                   .id = "none",
                   .summary = "none but by changes of allocation",
                   .params = {},
                   .make = [](const Params&) { return std::make_unique<NoCheckpoints>(); }}));

}  // namespace
}  // namespace allot
