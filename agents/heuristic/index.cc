// The weighted alpha-fair index with fixed numbers (stages/index_rule.h).

#include <utility>

#include "sched/policy.h"
#include "stages/index_rule.h"

namespace allot {
namespace {

class IndexHeuristic : public Policy {
 public:
  IndexHeuristic(const Params& params, PolicyInfo info) : info_(std::move(info)), rule_(params) {
    info_.needs_lengths = rule_.needs_lengths();
    info_.rates = rule_.rates();
  }

  void OnEpisodeStart(const EpisodeContext& context) override { rule_.OnEpisodeStart(context); }
  const PolicyInfo& info() const override { return info_; }
  void Decide(const Observation& o, Allocation* allocation) override {
    rule_.Allocate(o, rule_.Scores(o), allocation);
  }

 private:
  PolicyInfo info_;
  IndexRule rule_;
};

PolicyInfo IndexInfo() {
  PolicyInfo info;
  info.id = "index";
  info.summary = "weighted alpha-fair index with fixed numbers, greedy fill on concave hulls";
  info.source = "Mo and Walrand, IEEE/ACM ToN 2000 (alpha-fairness); allot";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = IndexRule::Specs();
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<IndexHeuristic>(params, info);
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, IndexInfo());

}  // namespace
}  // namespace allot
