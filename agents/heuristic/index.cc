// The weighted alpha-fair index with fixed numbers: u, beta, kappa for every job, u = -alpha
// ln(time) of the remaining time in the smallest configuration or, where lengths are unknown, of
// the GPU time attained, the inverse Gittins index, or the time that jobs of the same profile had
// left (forecast/work_of_profiles.h); or u = alpha x age.
// `rank` adds heSRPT's weight (forecast/hesrpt_weight.h), `fairness` how far a job is behind an
// even division of the cluster (stages/even_progress.h). docs/learning-method.md says which
// heuristics its points are.
//
// For jobs that choose their batch (docs/goodput.md): `sizes` keeps to some numbers of GPUs; `soon`
// adds to the stickiness of jobs that end within few intervals; with `repay` a job keeps its size
// where that is free and the other one would not win back the restart within its remaining time.

#include "core/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "forecast/hesrpt_weight.h"
#include "forecast/length_model.h"
#include "forecast/remaining.h"
#include "forecast/work_of_profiles.h"
#include "sched/policy.h"
#include "stages/capacity.h"
#include "stages/even_progress.h"
#include "stages/joint_choice.h"
#include "stages/nested_spec.h"
#include "stages/paired_placement.h"
#include "stages/typed_fill.h"

namespace allot {
namespace {

constexpr double kJointTolerance = 1e-4;  // of the sum of utilities

// What is chosen all together has no steps and no types given.
void RefuseWithJoint(const Params& params) {
  if (!params.Flag("joint")) return;
  const auto refuse = [](const char* name, const std::string& value) {
    throw UsageError("policy 'index': joint=true cannot have {}, got {}", name, value);
  };
  if (!params.Text("sizes").empty()) refuse("sizes of its own", params.Text("sizes"));
  if (params.Flag("repay")) refuse("'repay' (a restart's cost is in its values)", "repay=true");
  if (params.Number("first-bonus") != 0) {
    refuse("a bonus on first steps", fmt::format("first-bonus={}", params.Number("first-bonus")));
  }
  if (params.Text("types") != "exact") refuse("a stage of types", "types=" + params.Text("types"));
  if (params.Number("beta") >= 1 && !(params.Number("waiting") > 0)) {
    throw UsageError(
        "policy 'index': joint=true with beta {} needs 'waiting' above 0, got {}: waiting would be "
        "worth -infinity",
        params.Number("beta"), params.Number("waiting"));
  }
}

class IndexHeuristic : public Policy {
 public:
  IndexHeuristic(const Params& params, PolicyInfo info)
      : info_(std::move(info)),
        alpha_(params.Number("alpha")),
        basis_(BasisOf(params.Text("basis"))),
        gamma_(params.Number("gamma")),
        rank_(params.Number("rank")),
        fairness_(params.Number("fairness")),
        soon_(params.Number("soon")),
        repay_(params.Flag("repay")),
        joint_fill_(params.Flag("joint")),
        fill_(FillOptions(params), NestedSpec(params.Text("types"))),
        joint_(params.Number("waiting"), kJointTolerance),
        placement_(MakeStage<Placement>("placement", params.Text("placement"))) {
    RefuseWithJoint(params);
    shape_.beta = static_cast<float>(params.Number("beta"));
    shape_.kappa = static_cast<float>(params.Number("kappa"));
    info_.needs_lengths = ((basis_ == Basis::kRemaining || basis_ == Basis::kGittins) &&
                           (alpha_ != 0 || rank_ != 0)) ||
                          fairness_ != 0 ||
                          (basis_ != Basis::kProfile && (soon_ != 0 || repay_ || joint_fill_));
    // An even division, and what was asked for, may be of more GPUs than are trusted.
    const bool beyond_trusted = fairness_ != 0 || basis_ == Basis::kGittins || joint_fill_ ||
                                params.Text("types") != "exact";
    info_.rates = beyond_trusted ? RatesRead::kAll : RatesRead::kTrusted;
    if (rank_ != 0 && basis_ == Basis::kSubmit) {
      throw UsageError("policy 'index': rank {} needs a basis that is a time, got submit", rank_);
    }
    if (const auto history = HistoryOf(params)) lengths_ = LengthModelOf(history);
  }

  void OnEpisodeStart(const EpisodeContext&) override {
    lengths_.OnEpisodeStart();
    works_.OnEpisodeStart();
    even_.OnEpisodeStart();
    fill_.OnEpisodeStart();
  }

  const PolicyInfo& info() const override { return info_; }

  void Decide(const Observation& o, Allocation* allocation) override {
    if (basis_ == Basis::kGittins) lengths_.Observe(o);
    if (basis_ == Basis::kProfile) works_.Observe(o);
    rows_.clear();
    scores_.clear();
    times_.clear();
    for (std::int32_t row = 0; row < o.rows(); ++row) {
      Score score = shape_;
      score.u = static_cast<float>(Weight(o, row));
      // Jobs that wait have nothing to keep: they are not held back.
      if (soon_ != 0 && o.running[At(row)] >= 0) {
        score.kappa += static_cast<float>(soon_ * std::min(1.0, EndsSoon(o, row)));
      }
      rows_.push_back(row);
      scores_.push_back(score);
      if (rank_ != 0) times_.push_back(LnTime(o, row));
    }
    if (rank_ != 0) AddRanks(o);
    if (fairness_ != 0) AddFairness(o);
    grants_.clear();
    if (joint_fill_) {
      left_.clear();
      for (const std::int32_t row : rows_) left_.push_back(RemainingTime(o, row));
      joint_.Choose(o, rows_, scores_, left_, &grants_);
      placement_->Place(o, grants_, allocation);
      return;
    }
    fill_.Fill(o, rows_, scores_, &grants_);
    if (repay_) KeepWhatDoesNotRepay(o);
    if (!fill_.may_pair()) {
      placement_->Place(o, grants_, allocation);
      return;
    }
    paired_.clear();
    fill_.pairs().Apply(o, grants_, &paired_);
    paired_placement_.Place(o, paired_, placement_.get(), allocation);
  }

 private:
  enum class Basis { kRemaining, kAttained, kGittins, kProfile, kSubmit };

  static Basis BasisOf(const std::string& text) {
    if (text == "remaining") return Basis::kRemaining;
    if (text == "attained") return Basis::kAttained;
    if (text == "gittins") return Basis::kGittins;
    if (text == "profile") return Basis::kProfile;
    if (text == "submit") return Basis::kSubmit;
    throw UsageError(
        "policy 'index': 'basis' must be remaining, attained, gittins, profile or submit, got '{}'",
        text);
  }

  static HullFillOptions FillOptions(const Params& params) {
    HullFillOptions options;
    options.first_bonus = static_cast<float>(params.Number("first-bonus"));
    for (const double size : params.Numbers("sizes")) {
      if (size != std::floor(size) || (!options.sizes.empty() && size <= options.sizes.back())) {
        throw UsageError("policy 'index': 'sizes' must be whole numbers that rise, got {}",
                         params.Text("sizes"));
      }
      options.sizes.push_back(static_cast<GpuCount>(size));
    }
    return options;
  }

  // Remaining time as it runs, or in its smallest configuration.
  Seconds RemainingTime(const Observation& o, std::int32_t row) const {
    const ConfigurationTable& table = *o.table[At(row)];
    const std::int32_t running = o.running[At(row)];
    const double now = running >= 0 ? table[running].rate : 0;
    const double left =
        basis_ == Basis::kProfile ? works_.Remaining(o, row) : ReckonedRemaining(o, row);
    return left / (now > 0 ? now : table.reference_rate());
  }
  double EndsSoon(const Observation& o, std::int32_t row) const {
    return o.interval / std::max(RemainingTime(o, row), 1e-3);
  }

  // In the order of the grants, which is that of the jobs' worth.
  void KeepWhatDoesNotRepay(const Observation& o) {
    capacity_.Reset(*o.cluster);
    for (const Grant& grant : grants_) {
      capacity_.Take((*o.table[At(grant.row)])[grant.configuration]);
    }
    for (Grant& grant : grants_) {
      const std::int32_t running = o.running[At(grant.row)];
      const ConfigurationTable& table = *o.table[At(grant.row)];
      if (running < 0 || running == grant.configuration || !(table[running].rate > 0)) continue;
      const Seconds left = RemainingTime(o, grant.row);
      const double faster = table[grant.configuration].rate / table[running].rate;
      if (faster * (left - o.restart_cost[At(grant.row)]) > left) continue;
      capacity_.Return(table[grant.configuration]);
      const bool fits = capacity_.Fits(table[running]);
      if (fits) grant.configuration = running;
      capacity_.Take(table[grant.configuration]);
    }
  }

  double Weight(const Observation& o, std::int32_t row) const {
    const auto r = static_cast<std::size_t>(row);
    if (basis_ == Basis::kSubmit) return alpha_ * (o.now - o.submit[r]) / o.interval;
    const ConfigurationTable& table = *o.table[r];
    // The fill itself weighs a step by its cost once.
    const double demand = gamma_ == 1 ? 0 : (1 - gamma_) * std::log(table[o.requested[r]].cost);
    return demand - alpha_ * std::log(Time(o, row) / o.interval + 0.01);
  }

  float LnTime(const Observation& o, std::int32_t row) const {
    return static_cast<float>(std::log(Time(o, row) / o.interval + 0.01));
  }

  void AddRanks(const Observation& o) {
    const std::vector<float>& shares = longer_.Of(times_, o.job);
    for (std::size_t r = 0; r < scores_.size(); ++r) {
      scores_[r].u += static_cast<float>(rank_) * shares[r];
    }
  }

  void AddFairness(const Observation& o) {
    even_.Observe(o);
    for (std::size_t r = 0; r < scores_.size(); ++r) {
      scores_[r].u += static_cast<float>(fairness_ * even_.behind()[r]);
    }
  }

  double Time(const Observation& o, std::int32_t row) const {
    switch (basis_) {
      case Basis::kAttained:
        return o.attained_gpu_seconds[static_cast<std::size_t>(row)];
      case Basis::kGittins:
        return lengths_.Rank(o, row);
      case Basis::kProfile:
        return works_.Remaining(o, row) / o.table[At(row)]->reference_rate();
      default:
        return ReckonedRemaining(o, row) / o.table[static_cast<std::size_t>(row)]->reference_rate();
    }
  }

  PolicyInfo info_;
  double alpha_;
  Basis basis_;
  double gamma_;
  double rank_;
  double fairness_;
  double soon_;
  bool repay_;
  LengthModel lengths_;
  WorkOfProfiles works_;
  Score shape_;
  bool joint_fill_;
  TypedFill fill_;
  JointChoice joint_;
  std::vector<Seconds> left_;
  TypeCapacity capacity_;
  std::unique_ptr<Placement> placement_;
  std::vector<std::int32_t> rows_;
  std::vector<Score> scores_;
  std::vector<float> times_;
  HesrptWeight longer_;
  EvenProgress even_;
  std::vector<Grant> grants_;
  std::vector<PairedGrant> paired_;
  PairedPlacement paired_placement_;
};

PolicyInfo IndexInfo() {
  PolicyInfo info;
  info.id = "index";
  info.summary = "weighted alpha-fair index with fixed numbers, greedy fill on concave hulls";
  info.needs_lengths = true;
  info.time_driven = true;
  info.params = {
      {"alpha", "0.25", "weight of short time: u = -alpha ln(time)", -1000, 1000},
      {"beta", "0.3", "fairness: 0 throughput, 1 proportional, large max-min", 0, 100},
      {"kappa", "0.3", "stickiness to the present size", 0, 100},
      {"gamma", "1", "weight of small demand: u += (1 - gamma) ln(requested GPUs)", -10, 10},
      {"rank", "0", "weight of short rank: u += rank ln(share of jobs at least as long)", -10, 10},
      {"fairness", "0",
       "weight of being behind an even division: u += fairness x (its part of the job's work - the "
       "part that is done)",
       0, 1000},
      {"first-bonus", "0", "added to the key of each job's first step", -1000, 1000, "first"},
      {"sizes", "", "numbers of GPUs that jobs are given, joined by '|'; empty: any", 1, 4096},
      {"soon", "0", "added to kappa of jobs that run, times interval / remaining time, at most 1",
       0, 100},
      {"repay", "false", "a job keeps its size where another one would not repay the restart"},
      {"basis", "remaining",
       "which time: remaining (estimated), attained (GPU time), gittins (length model), profile "
       "(as "
       "jobs of the same profile needed), or submit: u = alpha age"},
      {"history", "",
       "for basis=gittins: TRACE@DATE, run times of jobs submitted before the date are known"},
      {"joint", "false",
       "types and sizes of all jobs are chosen together, exactly, instead of step by step; sizes "
       "are 1, 2, 4, ... GPUs of a node and whole nodes"},
      {"waiting", "0",
       "for joint: the speed that waiting counts as; above 0 where beta is 1 or more", 0, 1},
      {"types", "exact", "stage: on which GPU type each job runs, where there are several"},
      {"placement", "packed", "stage: which GPUs on which nodes"}};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<IndexHeuristic>(params, info);
  };
  return info;
}

ALLOT_REGISTER(PolicyInfo, IndexInfo());

}  // namespace
}  // namespace allot
