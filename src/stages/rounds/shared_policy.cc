#include "stages/rounds/shared_policy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index.h"
#include "core/nested_spec.h"
#include "core/strings.h"
#include "stages/fill/paired_placement.h"

namespace allot {
namespace {

class SharedPolicy : public Policy, public SharesTime {
 public:
  SharedPolicy(PolicyInfo info, const Params& params, std::unique_ptr<Sharing> sharing)
      : info_(std::move(info)),
        admission_(MakeStage<Admission>("admission", NestedSpec(params.Text("admission")),
                                        params.loader())),
        sharing_(std::move(sharing)),
        placement_(MakeStage<Placement>("placement", NestedSpec(params.Text("placement")),
                                        params.loader())),
        rounds_(RoundsOptionsOf(params)),
        ideal_(params.Flag("ideal")) {
    info_.time_driven = true;
  }

  const PolicyInfo& info() const override { return info_; }

  PolicyNotes notes() const override { return sharing_->notes(); }

  void OnEpisodeStart(const EpisodeContext& context) override {
    admission_->OnEpisodeStart(context);
    sharing_->OnEpisodeStart(context);
    rounds_.OnEpisodeStart(context);
    known_.clear();
    known_totals_.clear();
    wants_targets_ = false;
  }

  SharesTime* ideal_shares() override { return ideal_ ? this : nullptr; }

  void ShareTime(const Observation& o, std::vector<TimeShare>* shares) override {
    rows_.clear();
    admission_->Admit(o, &rows_);
    shares->clear();
    sharing_->Share(o, rows_, shares);
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    if (ideal_) {
      throw UsageError(
          "ideal=true gives fractions of GPUs, which only a whole simulation without a log can, "
          "got a decision for '{}'",
          info_.id);
    }
    rows_.clear();
    admission_->Admit(o, &rows_);
    const bool changed = JobsChanged(o);
    rounds_.Begin(o, rows_, changed);
    wants_targets_ = ClusterChanged(o) || changed || rounds_.failed() || wants_targets_;
    if (wants_targets_ && rounds_.MayAim(o.now)) {
      targets_.clear();
      sharing_->Share(o, rows_, &targets_);
      rounds_.Aim(o, targets_);
      wants_targets_ = false;
    }
    given_.clear();
    rounds_.Fill(o, &given_);
    paired_placement_.Place(o, given_, placement_.get(), allocation);
  }

 private:
  // Whether jobs have come or gone, or tables were renewed.
  bool JobsChanged(const Observation& o) {
    seen_.clear();
    for (const std::int32_t row : rows_) {
      seen_.emplace_back(o.job[At(row)], o.table[At(row)]->fingerprint());
    }
    if (!std::is_sorted(seen_.begin(), seen_.end())) std::sort(seen_.begin(), seen_.end());
    if (seen_ == known_) return false;
    std::swap(seen_, known_);
    return true;
  }

  // Whether nodes have come or gone.
  bool ClusterChanged(const Observation& o) {
    const std::size_t types = o.cluster->types().size();
    bool changed = known_totals_.size() != types;
    known_totals_.resize(types);
    for (std::size_t t = 0; t < types; ++t) {
      const Resources& total = o.cluster->total_of(static_cast<GpuTypeIndex>(t));
      changed = changed || !(known_totals_[t] == total);
      known_totals_[t] = total;
    }
    return changed;
  }

  PolicyInfo info_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Sharing> sharing_;
  std::unique_ptr<Placement> placement_;
  Rounds rounds_;
  bool ideal_;
  std::vector<std::pair<JobIndex, std::uint64_t>> seen_;
  std::vector<std::pair<JobIndex, std::uint64_t>> known_;
  std::vector<Resources> known_totals_;
  bool wants_targets_ = false;
  PairedPlacement paired_placement_;
  std::vector<std::int32_t> rows_;
  std::vector<TimeShare> targets_;
  std::vector<PairedGrant> given_;
};

}  // namespace

RoundsOptions RoundsOptionsOf(const Params& params) {
  RoundsOptions options;
  options.reset = params.Number("reset");
  options.lease = params.Number("lease");
  options.residues = params.Flag("residues");
  options.hold = params.Flag("hold");
  options.all_pairs = params.Flag("all-pairs");
  options.global = params.Flag("global");
  options.shuffle = params.Flag("shuffle");
  options.by_work = params.Flag("by-work");
  options.remember = params.Flag("remember");
  const std::string& leftovers = params.Text("leftovers");
  options.leftovers = leftovers == "none"      ? RoundsOptions::Leftovers::kNone
                      : leftovers == "in-turn" ? RoundsOptions::Leftovers::kInTurn
                                               : RoundsOptions::Leftovers::kBest;
  if (leftovers != "none" && leftovers != "in-turn" && leftovers != "best") {
    throw UsageError("'leftovers' must be best, in-turn or none, got '{}'", leftovers);
  }
  if (const std::string& order = params.Text("order"); !order.empty()) {
    for (const std::string_view name : Split(order, '|')) options.order.emplace_back(name);
  }
  return options;
}

std::unique_ptr<Policy> MakeSharedPolicy(PolicyInfo info, const Params& params,
                                         std::unique_ptr<Sharing> sharing) {
  return std::make_unique<SharedPolicy>(std::move(info), params, std::move(sharing));
}

PolicyInfo SharedPolicyInfo(std::string id, std::string summary, const SharedSpecs& stages) {
  PolicyInfo info;
  info.id = std::move(id);
  info.summary = std::move(summary);
  info.time_driven = true;
  info.params = {
      StageParam<Admission>({"admission", stages.admission, "stage: which jobs are considered"}),
      StageParam<Sharing>(
          {"sharing", stages.sharing, "stage: how much time in which configuration"}),
      StageParam<Placement>({"placement", stages.placement, "stage: which GPUs on which nodes"}),
      {"reset", "0", "seconds between new shares, at least; 0: at every change", 0, 1e9},
      {"lease", "100",
       "a job keeps a type that it has a share of for so many times its restart cost", 0, 1e9},
      {"leftovers", "best",
       "what shares leave free: best (where jobs are relatively fastest), in-turn (type by type, "
       "whoever is next), none"},
      {"order", "", "GPU types that are filled first, joined by '|'; the others as in the cluster"},
      {"shuffle", "false", "types are filled in a new order each round"},
      {"global", "true", "one queue over all types; else they are filled one after the other"},
      {"residues", "false", "shares below 0.001 count as well"},
      {"hold", "false", "jobs without shares yet take GPUs in their turn, and leave them idle"},
      {"all-pairs", "false", "pairs of jobs may fill what is left, with or without a share"},
      {"by-work", "false", "received is the time that the work done took, not the time held"},
      {"remember", "false", "received is since the job came, not since the last shares"},
      {"ideal", "false",
       "shares are had as they are, at every arrival and completion, without rounds, placement and "
       "restarts (Gavel's --ideal); of whole simulations without a log"}};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    const std::string sharing = NestedSpec(params.Text("sharing"));
    std::unique_ptr<Sharing> made = MakeStage<Sharing>("sharing", sharing, params.loader());
    PolicyInfo own = info;
    own.needs_lengths = Registry<SharingInfo>::Global()
                            .Get("sharing", ParseNamedParams(sharing).name)
                            .needs_lengths &&
                        made->reads_lengths();
    return MakeSharedPolicy(std::move(own), params, std::move(made));
  };
  return info;
}

}  // namespace allot
