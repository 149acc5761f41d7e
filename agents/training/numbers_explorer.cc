#include "agents/training/numbers_explorer.h"

#include <utility>

#include "agents/learned/job_numbers.h"
#include "agents/training/sampled_fill.h"
#include "agents/training/value_noise.h"
#include "core/error.h"

namespace allot {
namespace {

class FillExplorer : public NumbersExplorer {
 public:
  FillExplorer(std::unique_ptr<NumbersPolicy> policy, double tau)
      : policy_(std::move(policy)),
        fill_(tau),
        placement_(MakeStage<Placement>("placement", "packed")) {}

  void OnEpisodeStart(const EpisodeContext& context) override { policy_->OnEpisodeStart(context); }
  void Decide(const Observation& o, Rng* noise, Allocation* allocation) override {
    policy_->Think(o);
    const std::span<const float> outputs = policy_->outputs();
    const std::span scores(reinterpret_cast<const Score*>(outputs.data()), o.job.size());
    grants_.clear();
    fill_.Fill(o, scores, noise, &grants_, &by_score_);
    placement_->Place(o, grants_, allocation);
    gradient_.clear();
    for (const Score& g : by_score_) gradient_.insert(gradient_.end(), {g.u, g.beta, g.kappa});
  }
  const FeatureBatch& features() const override { return policy_->features(); }
  std::span<const float> gradient() const override { return gradient_; }

 private:
  std::unique_ptr<NumbersPolicy> policy_;
  SampledFill fill_;
  std::unique_ptr<Placement> placement_;
  std::vector<Grant> grants_;
  std::vector<Score> by_score_;
  std::vector<float> gradient_;
};

class ValueExplorer : public NumbersExplorer {
 public:
  ValueExplorer(std::unique_ptr<NumbersPolicy> policy, double tau)
      : policy_(std::move(policy)), noise_(tau, policy_->Steps()) {}

  void OnEpisodeStart(const EpisodeContext& context) override { policy_->OnEpisodeStart(context); }
  void Decide(const Observation& o, Rng* noise, Allocation* allocation) override {
    policy_->Think(o);
    noise_.Move(noise->NextU64(), o.job, policy_->outputs(), &moved_, &gradient_);
    policy_->Act(o, moved_, allocation);
  }
  const FeatureBatch& features() const override { return policy_->features(); }
  std::span<const float> gradient() const override { return gradient_; }

 private:
  std::unique_ptr<NumbersPolicy> policy_;
  ValueNoise noise_;
  std::vector<float> moved_;
  std::vector<float> gradient_;
};

}  // namespace

std::unique_ptr<NumbersExplorer> MakeNumbersExplorer(Exploration exploration, const Agent& agent,
                                                     const std::string& world, double tau) {
  auto policy = MakeNumbersPolicy(agent, {.world = world});
  if (exploration == Exploration::kValues) {
    return std::make_unique<ValueExplorer>(std::move(policy), tau);
  }
  if (agent.weights.kind != kIndexKind) {
    throw UsageError(
        "exploration=fill draws the fill of networks '{}', this one is '{}': take "
        "exploration=values",
        kIndexKind, agent.weights.kind);
  }
  return std::make_unique<FillExplorer>(std::move(policy), tau);
}

}  // namespace allot
