#include "agents/training/numbers_explorer.h"

#include <utility>

#include "agents/learned/job_numbers.h"
#include "agents/training/sampled_fill.h"
#include "agents/training/value_noise.h"
#include "core/error.h"

namespace allot {
namespace {

// By the numbers of a policy: what both kinds share.
class PolicyExplorer : public NumbersExplorer {
 public:
  explicit PolicyExplorer(std::unique_ptr<NumbersPolicy> policy) : policy_(std::move(policy)) {}

  void OnEpisodeStart(const EpisodeContext& context) final { policy_->OnEpisodeStart(context); }
  void Decide(const Observation& o, Rng* noise, Allocation* allocation) final {
    policy_->Think(o);
    Explore(o, noise, allocation);
  }
  const FeatureBatch& features() const final { return policy_->features(); }
  std::span<const float> gradient() const final { return gradient_; }

 protected:
  // Of what the policy thought; sets gradient_.
  virtual void Explore(const Observation& o, Rng* noise, Allocation* allocation) = 0;

  std::unique_ptr<NumbersPolicy> policy_;
  std::vector<float> gradient_;
};

class FillExplorer : public PolicyExplorer {
 public:
  FillExplorer(std::unique_ptr<NumbersPolicy> policy, double tau)
      : PolicyExplorer(std::move(policy)),
        fill_(tau),
        placement_(MakeStage<Placement>("placement", "packed")) {}

 private:
  void Explore(const Observation& o, Rng* noise, Allocation* allocation) override {
    const std::span<const float> outputs = policy_->outputs();
    const std::span scores(reinterpret_cast<const Score*>(outputs.data()), o.job.size());
    grants_.clear();
    fill_.Fill(o, scores, noise, &grants_, &by_score_);
    placement_->Place(o, grants_, allocation);
    gradient_.clear();
    for (const Score& g : by_score_) gradient_.insert(gradient_.end(), {g.u, g.beta, g.kappa});
  }

  SampledFill fill_;
  std::unique_ptr<Placement> placement_;
  std::vector<Grant> grants_;
  std::vector<Score> by_score_;
};

class ValueExplorer : public PolicyExplorer {
 public:
  ValueExplorer(std::unique_ptr<NumbersPolicy> policy, double tau)
      : PolicyExplorer(std::move(policy)), noise_(tau, policy_->Steps()) {}

 private:
  void Explore(const Observation& o, Rng* noise, Allocation* allocation) override {
    noise_.Move(noise->NextU64(), o.job, policy_->outputs(), &moved_, &gradient_);
    policy_->Act(o, moved_, allocation);
  }

  ValueNoise noise_;
  std::vector<float> moved_;
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
