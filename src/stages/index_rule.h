#pragma once
// The weighted alpha-fair index with fixed numbers: u, beta, kappa for every job, u = -alpha
// ln(time) of the remaining time in the smallest configuration or, where lengths are unknown, of
// the GPU time attained, the inverse Gittins index, or the time that jobs of the same profile had
// left (length_model/work_of_profiles.h); or u = alpha x age.
// `rank` adds heSRPT's weight (length_model/hesrpt_weight.h), `fairness` how far a job is behind an
// even division of the cluster (stages/rounds/even_progress.h). That weight is for known lengths
// and jobs of any size, so `unknown-alpha` and `rigid-alpha` weigh other jobs by their time alone.
// docs/learning-method.md says which heuristics its points are. With `late` no job is left behind
// because its estimate is too long: those that are late were they short (stages/lateness.h) get
// more u, up to the median of all jobs.
//
// For jobs that choose their batch (docs/goodput.md): `sizes` keeps to some numbers of GPUs; `soon`
// adds to the stickiness of jobs that end within few intervals; with `repay` a job keeps its size
// where that is free and the other one would not win back the restart within its remaining time.
//
// Where rates are believed with a spread, `explore` is a bonus on the first step beyond what is
// known (stages/fill/hull_fill.h).
//
// The stage `admission` says which jobs are considered.
//
// In two halves, so that a network can add to the numbers between them: Scores says what the rule
// gives each job, Allocate turns numbers into an allocation as the rule does (types, sizes, all
// together with `joint`, placement). The policy 'index' is one after the other.

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/params.h"
#include "length_model/hesrpt_weight.h"
#include "length_model/length_model.h"
#include "length_model/work_of_profiles.h"
#include "sched/rates_read.h"
#include "stages/fill/capacity.h"
#include "stages/fill/joint_choice.h"
#include "stages/fill/paired_placement.h"
#include "stages/fill/typed_fill.h"
#include "stages/lateness.h"
#include "stages/rounds/even_progress.h"

namespace allot {

class IndexRule {
 public:
  static const std::vector<ParamSpec>& Specs();  // of the policy 'index'

  // `lengths`: what is known of run times before the first episode, unless `history` names it.
  // UsageError for numbers that exclude each other.
  explicit IndexRule(const Params& params, LengthModel lengths = {});

  bool needs_lengths() const { return needs_lengths_; }
  RatesRead rates() const { return rates_; }

  void OnEpisodeStart(const EpisodeContext& context);

  // What it learns from, without a decision.
  void Observe(const Observation& o);
  // By row. Observes. O(rows log rows).
  std::span<const Score> Scores(const Observation& o);
  // Of scores[i] of row i, all of them, which must be Bounded or its own. Clears `allocation`
  // first.
  void Allocate(const Observation& o, std::span<const Score> scores, Allocation* allocation);

  // The nearest that Allocate can take: beta and kappa not below 0, with `joint` waiting worth a
  // finite number. Its own scores stay as they are.
  Score Bounded(Score score) const;

 private:
  enum class Basis { kRemaining, kAttained, kGittins, kProfile, kSubmit };
  static Basis BasisOf(const std::string& text);

  double WorkLeft(const Observation& o, std::int32_t row) const;
  Seconds RemainingTime(const Observation& o, std::int32_t row) const;
  double EndsSoon(const Observation& o, std::int32_t row) const;
  void KeepWhatDoesNotRepay(const Observation& o);
  // The weight that a job of one size or of unknown length has in place of alpha and rank, if any.
  std::optional<double> OwnAlpha(const Observation& o, std::size_t row) const;
  double Weight(const Observation& o, std::int32_t row);
  double LnTime(const Observation& o, std::int32_t row);
  void AddRanks(const Observation& o);
  void AddFairness(const Observation& o);
  void RaiseLate(const Observation& o);
  double Time(const Observation& o, std::int32_t row) const;

  double alpha_;
  Basis basis_;
  double gamma_;
  double rank_;
  std::optional<double> rigid_alpha_;
  std::optional<double> unknown_alpha_;
  double fairness_;
  double late_;
  double soon_;
  bool repay_;
  double waiting_;
  bool needs_lengths_ = false;
  RatesRead rates_ = RatesRead::kAll;
  LengthModel lengths_;
  WorkOfProfiles works_;
  Score shape_;
  bool joint_fill_;
  TypedFill fill_;
  JointChoice joint_;
  std::vector<double> left_;  // by row: seconds, or work
  TypeCapacity capacity_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Placement> placement_;
  std::vector<std::int32_t> rows_;  // admitted
  std::vector<Score> scores_;
  std::vector<Score> of_admitted_;  // by place in rows_, where not all rows are
  std::vector<float> times_;
  struct Logarithm {
    double time = kUnknown;
    double ln = 0;  // of the time in intervals
  };
  std::vector<Logarithm> logarithms_;  // by job: while it waits its time stays the same
  std::vector<float> us_;
  Lateness lateness_;
  HesrptWeight longer_;
  EvenProgress even_;
  std::vector<Grant> grants_;
  std::vector<PairedGrant> paired_;
  PairedPlacement paired_placement_;
};

}  // namespace allot
