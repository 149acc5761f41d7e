// The same interval for all jobs.

#include "core/error.h"
#include "sim/checkpoint_rule.h"

namespace allot {
namespace {

class FixedCheckpoints : public CheckpointRule {
 public:
  explicit FixedCheckpoints(Checkpoints all) : all_(all) {}
  Checkpoints Of(std::int32_t, double) const override { return all_; }

 private:
  Checkpoints all_;
};

ALLOT_REGISTER(CheckpointRuleInfo,
               (CheckpointRuleInfo{
                   .id = "fixed",
                   .summary = "the same interval for all jobs",
                   .params = {{"every", "1h", "time of training between two", 1, 1e12},
                              {"cost", "2min", "time that one takes", 0, 1e9}},
                   .make = [](const Params& params) {
                     const Checkpoints all{params.Duration("every"), params.Duration("cost")};
                     if (all.every < all.cost) {
                       throw UsageError(
                           "checkpoint rule 'fixed': 'every' must not be shorter than 'cost', "
                           "got {} s and {} s",
                           all.every, all.cost);
                     }
                     return std::make_unique<FixedCheckpoints>(all);
                   }}));

}  // namespace
}  // namespace allot
