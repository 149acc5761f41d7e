// What is true is believed: policies are shown the rates that jobs have at the moment.

#include "sim/followed_truth.h"

namespace allot {
namespace {

ALLOT_REGISTER(BeliefInfo,
               (BeliefInfo{"exact",
                           "policies see the rates that jobs really have",
                           {},
                           [](const Params&, const Scenario& scenario) -> std::unique_ptr<Belief> {
                             if (!scenario.has_processes()) return nullptr;
                             return std::make_unique<FollowedTruth>(scenario, nullptr);
                           }}));

}  // namespace
}  // namespace allot
