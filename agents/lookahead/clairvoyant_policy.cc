// Clairvoyant search: how well this very workload can be scheduled, as far as a search finds out.
// Plays the whole episode again and again, arrivals and true lengths known, first under points of
// the index family, then with corrections to the u and beta of single jobs, and keeps the best.
// An achieved figure, not a bound: more episodes may find better.

#include <algorithm>
#include <cmath>
#include <string>

#include "core/rng.h"
#include "sched/foresight.h"
#include "sched/stages.h"
#include "stages/fill/typed_fill.h"

namespace allot {
namespace {

// A schedule: the index family with numbers of each job's own.
struct Plan {
  double alpha = 0.25;
  double gamma = 1;  // of small demand, as in the policy `index`
  float kappa = 0.3F;
  std::vector<float> u;  // by job, added to -alpha ln(true remaining time)
  std::vector<float> beta;
};

class PlannedIndex : public Policy {
 public:
  PlannedIndex(const PolicyInfo& info, const std::string& placement)
      : info_(info), placement_(MakeStage<Placement>("placement", placement)) {}

  const PolicyInfo& info() const override { return info_; }
  void Use(const Plan* plan, const Foresight* foresight) {
    plan_ = plan;
    foresight_ = foresight;
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    rows_.clear();
    scores_.clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      const auto r = static_cast<std::size_t>(row);
      const auto job = static_cast<std::size_t>(o.job[r]);
      const double left = std::max(0.0, foresight_->TrueWork(o.job[r]) - o.done_work[r]);
      const double intervals = left / o.table[r]->reference_rate() / o.interval;
      const double demand = std::log((*o.table[r])[o.requested[r]].cost);
      const double u = (1 - plan_->gamma) * demand - plan_->alpha * std::log(intervals + 0.01);
      rows_.push_back(row);
      scores_.push_back({.u = static_cast<float>(u) + plan_->u[job],
                         .beta = plan_->beta[job],
                         .kappa = plan_->kappa});
    }
    grants_.clear();
    fill_.Fill(o, rows_, scores_, &grants_);
    placement_->Place(o, grants_, allocation);
  }

 private:
  const PolicyInfo& info_;
  std::unique_ptr<Placement> placement_;
  const Plan* plan_ = nullptr;
  const Foresight* foresight_ = nullptr;
  TypedFill fill_;
  std::vector<std::int32_t> rows_;
  std::vector<Score> scores_;
  std::vector<Grant> grants_;
};

class Clairvoyant : public Policy {
 public:
  Clairvoyant(const Params& params, PolicyInfo info)
      : info_(std::move(info)),
        budget_(params.Integer("budget")),
        player_(info_, params.Text("placement")) {}

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext& context) override {
    foresight_ = context.foresight;
    if (foresight_ == nullptr) return;
    Search(context.seed);
    player_.Use(&best_, foresight_);
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    if (o.rows() == 0) return allocation->Clear();
    if (foresight_ == nullptr) {
      throw UsageError(
          "policy '{}' must know the episode in advance, which only simulated runs allow; "
          "this one has no foresight",
          info_.id);
    }
    player_.Decide(o, allocation);
  }

 private:
  void Search(std::uint64_t seed) {
    best_jct_ = kNever;
    episodes_ = 0;
    Plan plan;
    plan.u.assign(static_cast<std::size_t>(foresight_->jobs()), 0);
    for (const double alpha : {0.25, 0.0, 0.5, 1.0}) {
      for (const float beta : {0.3F, 0.0F, 0.75F, 2.0F}) {
        plan.alpha = alpha;
        plan.beta.assign(plan.u.size(), beta);
        TryOut(plan);
      }
    }
    // Shortest remaining time first, whatever it demands.
    plan.alpha = 1;
    plan.gamma = 0;
    plan.beta.assign(plan.u.size(), 0);
    for (const float kappa : {0.0F, 0.3F}) {
      plan.kappa = kappa;
      TryOut(plan);
    }
    for (const float kappa : {0.0F, 1.0F}) {
      plan = best_;
      plan.kappa = kappa;
      TryOut(plan);
    }
    // A step moves neighbours in order of submission, who compete, by normal amounts; steps grow
    // where they help and shrink where they do not.
    Rng rng(seed, "clairvoyant");
    double sigma = 0.5;
    while (episodes_ < budget_) {
      plan = best_;
      const std::uint64_t jobs = plan.u.size();
      const std::uint64_t width =
          1 + rng.Below(std::max<std::uint64_t>(1, std::min<std::uint64_t>(jobs, 32)));
      const std::uint64_t first = rng.Below(jobs);
      for (std::uint64_t j = first; j < std::min(jobs, first + width); ++j) {
        plan.u[j] += static_cast<float>(sigma * rng.Normal());
        plan.beta[j] =
            std::max(0.0F, plan.beta[j] + static_cast<float>(0.5 * sigma * rng.Normal()));
      }
      sigma = std::clamp(sigma * (TryOut(plan) ? 1.5 : 0.95), 0.05, 4.0);
    }
  }

  bool TryOut(const Plan& plan) {
    if (episodes_ >= budget_) return false;
    ++episodes_;
    player_.Use(&plan, foresight_);
    const double jct = foresight_->MeanJct(player_);
    if (!(jct < best_jct_)) return false;
    best_jct_ = jct;
    best_ = plan;
    return true;
  }

  PolicyInfo info_;
  int budget_;
  PlannedIndex player_;
  const Foresight* foresight_ = nullptr;
  Plan best_;
  double best_jct_ = kNever;
  int episodes_ = 0;
};

PolicyInfo ClairvoyantInfo() {
  PolicyInfo info;
  info.id = "clairvoyant";
  info.summary = "oracle: the best schedule that a search over this workload finds";
  info.source = "allot";
  info.time_driven = true;
  info.oracle = true;
  info.params = {
      {"budget", "300", "simulated episodes of the search, at most", 1, 1e9},
      StageParam<Placement>({"placement", "packed", "stage: which GPUs on which nodes"})};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<Clairvoyant>(params, info);
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, ClairvoyantInfo());

}  // namespace
}  // namespace allot
