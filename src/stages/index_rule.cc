#include "stages/index_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/nested_spec.h"
#include "length_model/remaining.h"
#include "sched/stages.h"
#include "workload/history.h"

namespace allot {
namespace {

constexpr double kLate = 1.5;             // ratio from which a job is late
constexpr double kJointTolerance = 1e-4;  // of the sum of utilities
constexpr double kMostJointBeta = 0.95;   // below 1: waiting would be worth -infinity
constexpr double kMostShape = 100;        // of beta, and of kappa beyond the rule's own

// What is chosen all together has no steps and no types given.
void RefuseWithJoint(const Params& params) {
  if (!params.Flag("joint")) return;
  const auto refuse = [](const char* name, const std::string& value) {
    throw UsageError("policy 'index': joint=true cannot have {}, got {}", name, value);
  };
  if (!params.Text("sizes").empty()) refuse("sizes of its own", params.Text("sizes"));
  if (params.Flag("repay")) refuse("'repay' (a restart's cost is in its values)", "repay=true");
  if (params.Number("explore") != 0) {
    refuse("a bonus on first tries", "explore=" + params.Text("explore"));
  }
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

HullFillOptions FillOptions(const Params& params) {
  HullFillOptions options;
  options.first_bonus = static_cast<float>(params.Number("first-bonus"));
  options.explore = static_cast<float>(params.Number("explore"));
  for (const double size : params.Numbers("sizes")) {
    if (size != std::floor(size) || (!options.sizes.empty() && size <= options.sizes.back())) {
      throw UsageError("policy 'index': 'sizes' must be whole numbers that rise, got {}",
                       params.Text("sizes"));
    }
    options.sizes.push_back(static_cast<GpuCount>(size));
  }
  return options;
}

std::optional<double> NumberIfGiven(const Params& params, const char* name) {
  return params.Text(name).empty() ? std::nullopt : std::optional(params.Number(name));
}

}  // namespace

const std::vector<ParamSpec>& IndexRule::Specs() {
  static const std::vector<ParamSpec> specs = {
      {"alpha", "0.25", "weight of short time: u = -alpha ln(time)", -1000, 1000},
      {"beta", "0.3", "fairness: 0 throughput, 1 proportional, large max-min", 0, 100},
      {"kappa", "0.3", "stickiness to the present size", 0, 100},
      {"gamma", "1", "weight of small demand: u += (1 - gamma) ln(requested GPUs)", -10, 10},
      {"rank", "0", "weight of short rank: u += rank ln(share of jobs at least as long)", -10, 10},
      {"rigid-alpha", "",
       "in place of alpha and rank for jobs that have one useful size; empty: the same", -1000,
       1000},
      {"unknown-alpha", "",
       "likewise for others without an estimate of their length; empty: the same", -1000, 1000},
      {"fairness", "0",
       "weight of being behind an even division: u += fairness x (its part of the job's work - the "
       "part that is done)",
       0, 1000},
      {"late", "0",
       "weight of being late though it may be short: u += late x ln(lateness / 1.5), up to the "
       "median of all jobs' u",
       0, 1000},
      {"first-bonus", "0", "added to the key of each job's first step", -1000, 1000},
      {"sizes", "", "numbers of GPUs that jobs are given, joined by '|'; empty: any", 1, 4096},
      {"soon", "0", "added to kappa of jobs that run, times interval / remaining time, at most 1",
       0, 100},
      {"explore", "0",
       "added to a job's first step beyond what was measured, times the spread of the rate there, "
       "less where the job ends soon",
       0, 100},
      {"repay", "false", "a job keeps its size where another one would not repay the restart"},
      {"basis", "remaining",
       "which time: remaining (estimated), attained (GPU time), gittins (length model), profile "
       "(as "
       "jobs of the same profile needed), or submit: u = alpha age"},
      FileParam({"history", "",
                 "for basis=gittins: TRACE@DATE, run times of jobs submitted before the date are "
                 "known"},
                FilesOfHistory),
      {"half-life", "3",
       "for basis=gittins: days after which an earlier run of a user counts half; 0: it counts on",
       0, 100000},
      {"unfinished", "true",
       "for basis=gittins: jobs of a user that have not ended tell how long they have lasted"},
      {"joint", "false",
       "types and sizes of all jobs are chosen together, exactly, instead of step by step; sizes "
       "are 1, 2, 4, ... GPUs of a node and whole nodes"},
      {"waiting", "0",
       "for joint: the speed that waiting counts as; above 0 where beta is 1 or more", 0, 1},
      StageParam<Admission>({"admission", "accept-all", "stage: which jobs are considered"}),
      StageParam<TypeAssignment>(
          {"types", "exact", "stage: on which GPU type each job runs, where there are several"}),
      StageParam<Placement>({"placement", "packed", "stage: which GPUs on which nodes"})};
  return specs;
}

IndexRule::IndexRule(const Params& params, LengthModel lengths)
    : alpha_(params.Number("alpha")),
      basis_(BasisOf(params.Text("basis"))),
      gamma_(params.Number("gamma")),
      rank_(params.Number("rank")),
      rigid_alpha_(NumberIfGiven(params, "rigid-alpha")),
      unknown_alpha_(NumberIfGiven(params, "unknown-alpha")),
      fairness_(params.Number("fairness")),
      late_(params.Number("late")),
      soon_(params.Number("soon")),
      repay_(params.Flag("repay")),
      waiting_(params.Number("waiting")),
      lengths_(std::move(lengths)),
      joint_fill_(params.Flag("joint")),
      fill_(FillOptions(params), NestedSpec(params.Text("types"))),
      joint_(waiting_, kJointTolerance),
      admission_(
          MakeStage<Admission>("admission", NestedSpec(params.Text("admission")), params.loader())),
      placement_(MakeStage<Placement>("placement", params.Text("placement"))) {
  RefuseWithJoint(params);
  shape_.beta = static_cast<float>(params.Number("beta"));
  shape_.kappa = static_cast<float>(params.Number("kappa"));
  const double explore = params.Number("explore");
  const AdmissionInfo& admission = Registry<AdmissionInfo>::Global().Get(
      "admission", ParseNamedParams(NestedSpec(params.Text("admission"))).name);
  needs_lengths_ =
      admission.needs_lengths ||
      ((basis_ == Basis::kRemaining || basis_ == Basis::kGittins) && (alpha_ != 0 || rank_ != 0)) ||
      fairness_ != 0 || explore != 0 ||
      (basis_ != Basis::kProfile && (soon_ != 0 || repay_ || joint_fill_ || late_ != 0));
  // An even division, and what was asked for, may be of more GPUs than are trusted.
  const bool beyond_trusted =
      fairness_ != 0 || basis_ == Basis::kGittins || joint_fill_ || params.Text("types") != "exact";
  rates_ = beyond_trusted ? RatesRead::kAll : std::max(RatesRead::kTrusted, admission.rates);
  if (rank_ != 0 && basis_ == Basis::kSubmit) {
    throw UsageError("policy 'index': rank {} needs a basis that is a time, got submit", rank_);
  }
  const SubmitterOptions habits{.half_life = 86400 * params.Number("half-life"),
                                .unfinished = params.Flag("unfinished")};
  lengths_.SetOptions(habits);
  if (const auto history = HistoryOf(params)) lengths_ = LengthModelOf(history, habits);
}

void IndexRule::OnEpisodeStart(const EpisodeContext& context) {
  admission_->OnEpisodeStart(context);
  lengths_.OnEpisodeStart();
  works_.OnEpisodeStart();
  even_.OnEpisodeStart();
  lateness_.OnEpisodeStart();
  fill_.OnEpisodeStart();
  logarithms_.clear();
}

void IndexRule::Observe(const Observation& o) {
  if (basis_ == Basis::kGittins) lengths_.Observe(o);
  if (basis_ == Basis::kProfile) works_.Observe(o);
}

std::span<const Score> IndexRule::Scores(const Observation& o) {
  Observe(o);
  scores_.clear();
  times_.clear();
  for (std::int32_t row = 0; row < o.rows(); ++row) {
    Score score = shape_;
    score.u = static_cast<float>(Weight(o, row));
    // Jobs that wait have nothing to keep: they are not held back.
    if (soon_ != 0 && o.running[At(row)] >= 0) {
      score.kappa += static_cast<float>(soon_ * std::min(1.0, EndsSoon(o, row)));
    }
    scores_.push_back(score);
    if (rank_ != 0) times_.push_back(static_cast<float>(LnTime(o, row)));
  }
  if (rank_ != 0) AddRanks(o);
  if (fairness_ != 0) AddFairness(o);
  if (late_ != 0) RaiseLate(o);
  return scores_;
}

Score IndexRule::Bounded(Score score) const {
  const auto most =
      static_cast<float>(joint_fill_ && !(waiting_ > 0) ? kMostJointBeta : kMostShape);
  score.beta = std::clamp(score.beta, 0.0F, std::max(most, shape_.beta));
  score.kappa = std::clamp(score.kappa, 0.0F, static_cast<float>(kMostShape) + shape_.kappa);
  return score;
}

void IndexRule::Allocate(const Observation& o, std::span<const Score> scores,
                         Allocation* allocation) {
  ALLOT_CHECK_EQ(scores.size(), o.job.size());
  rows_.clear();
  admission_->Admit(o, &rows_);
  if (rows_.size() < scores.size()) {
    of_admitted_.clear();
    for (const std::int32_t row : rows_) of_admitted_.push_back(scores[At(row)]);
    scores = of_admitted_;
  }
  grants_.clear();
  if (joint_fill_) {
    left_.clear();
    for (const std::int32_t row : rows_) left_.push_back(RemainingTime(o, row));
    joint_.Choose(o, rows_, scores, left_, &grants_);
    placement_->Place(o, grants_, allocation);
    return;
  }
  fill_.Fill(o, rows_, scores, &grants_);
  if (repay_) KeepWhatDoesNotRepay(o);
  if (!fill_.may_pair()) {
    placement_->Place(o, grants_, allocation);
    return;
  }
  paired_.clear();
  fill_.pairs().Apply(o, grants_, &paired_);
  paired_placement_.Place(o, paired_, placement_.get(), allocation);
}

IndexRule::Basis IndexRule::BasisOf(const std::string& text) {
  if (text == "remaining") return Basis::kRemaining;
  if (text == "attained") return Basis::kAttained;
  if (text == "gittins") return Basis::kGittins;
  if (text == "profile") return Basis::kProfile;
  if (text == "submit") return Basis::kSubmit;
  throw UsageError(
      "policy 'index': 'basis' must be remaining, attained, gittins, profile or submit, got '{}'",
      text);
}

double IndexRule::WorkLeft(const Observation& o, std::int32_t row) const {
  return basis_ == Basis::kProfile ? works_.Remaining(o, row) : AssumedRemaining(o, row);
}

// Remaining time as it runs, or in its smallest configuration.
Seconds IndexRule::RemainingTime(const Observation& o, std::int32_t row) const {
  const ConfigurationTable& table = *o.table[At(row)];
  const std::int32_t running = o.running[At(row)];
  const double now = running >= 0 ? table[running].rate : 0;
  return WorkLeft(o, row) / (now > 0 ? now : table.reference_rate());
}
double IndexRule::EndsSoon(const Observation& o, std::int32_t row) const {
  return o.interval / std::max(RemainingTime(o, row), 1e-3);
}

// In the order of the grants, which is that of the jobs' worth.
void IndexRule::KeepWhatDoesNotRepay(const Observation& o) {
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

double IndexRule::Weight(const Observation& o, std::int32_t row) {
  const auto r = static_cast<std::size_t>(row);
  if (basis_ == Basis::kSubmit) return alpha_ * (o.now - o.submit[r]) / o.interval;
  const ConfigurationTable& table = *o.table[r];
  // The fill itself weighs a step by its cost once.
  const double demand = gamma_ == 1 ? 0 : (1 - gamma_) * std::log(table[o.requested[r]].cost);
  return demand - OwnAlpha(o, r).value_or(alpha_) * LnTime(o, row);
}

std::optional<double> IndexRule::OwnAlpha(const Observation& o, std::size_t row) const {
  if (rigid_alpha_) {
    const ConfigurationTable& table = *o.table[row];
    if (table.hull(table.types().front()).size() <= 1) return rigid_alpha_;
  }
  return std::isnan(o.estimated_work[row]) ? unknown_alpha_ : std::nullopt;
}

double IndexRule::LnTime(const Observation& o, std::int32_t row) {
  const std::size_t job = At(o.job[At(row)]);
  if (job >= logarithms_.size()) logarithms_.resize(job + 1);
  Logarithm& known = logarithms_[job];
  const double time = Time(o, row);
  if (known.time != time) known = {time, std::log(time / o.interval + 0.01)};
  return known.ln;
}

void IndexRule::AddRanks(const Observation& o) {
  const std::vector<float>& shares = longer_.Of(times_, o.job);
  for (std::size_t r = 0; r < scores_.size(); ++r) {
    if (OwnAlpha(o, r)) continue;
    scores_[r].u += static_cast<float>(rank_) * shares[r];
  }
}

// Not above the median, so that who is late for good reasons (many jobs, a long one) does not go
// before those that are short.
void IndexRule::RaiseLate(const Observation& o) {
  if (scores_.empty()) return;
  left_.clear();
  us_.clear();
  for (std::size_t r = 0; r < scores_.size(); ++r) {
    left_.push_back(WorkLeft(o, static_cast<std::int32_t>(r)));
    us_.push_back(scores_[r].u);
  }
  lateness_.Observe(o, left_);
  const auto middle = us_.begin() + (std::ssize(us_) - 1) / 2;
  std::nth_element(us_.begin(), middle, us_.end());
  for (std::size_t r = 0; r < scores_.size(); ++r) {
    const double ratio = lateness_.ratios()[r];
    if (!(ratio > kLate) || scores_[r].u >= *middle) continue;
    const double raised = scores_[r].u + late_ * std::log(ratio / kLate);
    scores_[r].u = std::min(*middle, static_cast<float>(raised));
  }
}

void IndexRule::AddFairness(const Observation& o) {
  even_.Observe(o);
  for (std::size_t r = 0; r < scores_.size(); ++r) {
    scores_[r].u += static_cast<float>(fairness_ * even_.behind()[r]);
  }
}

double IndexRule::Time(const Observation& o, std::int32_t row) const {
  switch (basis_) {
    case Basis::kAttained:
      return o.attained_gpu_seconds[static_cast<std::size_t>(row)];
    case Basis::kGittins:
      return lengths_.Rank(o, row);
    case Basis::kProfile:
      return works_.Remaining(o, row) / o.table[At(row)]->reference_rate();
    default:
      return AssumedRemaining(o, row) / o.table[static_cast<std::size_t>(row)]->reference_rate();
  }
}

}  // namespace allot
