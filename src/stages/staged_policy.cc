#include "stages/staged_policy.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/index.h"
#include "core/nested_spec.h"
#include "sched/incremental.h"
#include "sched/incremental_stages.h"
#include "stages/fill/typed_sizing.h"
#include "stages/order_memory.h"
#include "stages/starvation_guard.h"

namespace allot {
namespace {

class StagedPolicy : public Policy, public IncrementalPolicy {
 public:
  StagedPolicy(PolicyInfo info, const StageSpecs& stages, Seconds guard, bool keeps_batches,
               const ParamLoader& loader)
      : info_(std::move(info)),
        keeps_batches_(keeps_batches),
        guard_(guard),
        admission_(MakeStage<Admission>("admission", stages.admission, loader)),
        ordering_(MakeStage<Ordering>("ordering", stages.ordering, loader)),
        types_(MakeStage<TypeAssignment>("types", stages.types, loader)),
        sizing_(MakeStage<Sizing>("sizing", stages.sizing, loader)),
        typed_sizing_(types_.get(), sizing_.get()),
        placement_(MakeStage<Placement>("placement", stages.placement, loader)) {
    info_.rates = RatesRead::kNone;
    const auto take = [this](const auto& stage, bool reads_lengths = true) {
      info_.rates = std::max(info_.rates, stage.rates);
      info_.needs_lengths = info_.needs_lengths || (stage.needs_lengths && reads_lengths);
      info_.time_driven = info_.time_driven || stage.time_driven;
    };
    const auto name = [](const std::string& spec) { return ParseNamedParams(spec).name; };
    const AdmissionInfo& admission =
        Registry<AdmissionInfo>::Global().Get("admission", name(stages.admission));
    take(admission);
    const OrderingInfo& ordering =
        Registry<OrderingInfo>::Global().Get("ordering", name(stages.ordering));
    take(ordering);
    order_is_time_driven_ = ordering.time_driven;
    const SizingInfo& sizing = Registry<SizingInfo>::Global().Get("sizing", name(stages.sizing));
    take(sizing, sizing_->reads_lengths());
    const PlacementInfo& placement =
        Registry<PlacementInfo>::Global().Get("placement", name(stages.placement));
    take(placement);
    // Types are assigned by rates, where there are several or always.
    if (types_->AppliesTo(ClusterSpec())) info_.rates = RatesRead::kAll;
    info_.time_driven = info_.time_driven || guard_.on();
    promises_ = !typed_sizing_.may_pair() && info_.time_driven && !admission.time_driven &&
                sizing.repeats && !sizing_->places() && placement.repeats;
    keys_over_time_ = ordering_->incremental();
    if (!sizing_->places() && !typed_sizing_.may_pair())
      placement_as_changes_ = placement_->incremental();
  }

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext& context) override {
    admission_->OnEpisodeStart(context);
    ordering_->OnEpisodeStart();
    guard_.OnEpisodeStart();
    memory_.Forget();
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    Grants(o);
    if (sizing_->places()) {
      GivePlaces(o, allocation);
    } else if (typed_sizing_.may_pair()) {
      paired_.clear();
      typed_sizing_.pairs().Apply(o, grants_, &paired_);
      paired_placement_.Place(o, paired_, placement_.get(), allocation);
    } else {
      placement_->Place(o, grants_, allocation);
    }
    if (keeps_batches_) allocation->KeepRequestedBatches();
  }

  IncrementalPolicy* incremental() override {
    return promises_ || placement_as_changes_ != nullptr ? this : nullptr;
  }

  bool DecideChanges(const Observation& o, AllocationChanges* changes) override {
    if (placement_as_changes_ == nullptr || !o.free.has_value()) return false;
    Grants(o);
    placement_as_changes_->PlaceChanges(o, grants_, changes);
    if (keeps_batches_) changes->given.KeepRequestedBatches();
    return true;
  }

  Seconds HoldsUntil(const Observation& o, std::span<const std::int32_t> running) override {
    if (!promises_) return 0;
    // Types may be exchanged when the order changes among those that run.
    const auto runs = [](std::int32_t configuration) { return configuration >= 0; };
    if (typed_sizing_.AppliesTo(*o.cluster) && std::any_of(running.begin(), running.end(), runs)) {
      return 0;
    }
    FindGiven(o, running);
    return std::min(placement_->HoldsUntil(), OrderHoldsUntil(o));
  }

 private:
  void Grants(const Observation& o) {
    rows_.clear();
    admission_->Admit(o, &rows_);
    Sort(o);
    grants_.clear();
    if (typed_sizing_.AppliesTo(*o.cluster)) {
      TypeQuestion question;
      question.order = order_;
      question.first = Starved(o);
      question.moves = ordering_->preemptive();
      typed_sizing_.Size(o, question, memory_.keys(), &grants_);
    } else {
      sizing_->Size(o, order_, memory_.keys(), &grants_);
    }
  }

  // How many there are: they come first.
  std::size_t Starved(const Observation& o) const {
    if (!guard_.any_starved()) return 0;
    const auto fed = [&](std::int32_t row) { return !guard_.Starved(o.job[At(row)]); };
    return static_cast<std::size_t>(std::find_if(order_.begin(), order_.end(), fed) -
                                    order_.begin());
  }

  void GivePlaces(const Observation& o, Allocation* allocation) const {
    allocation->Clear();
    for (std::size_t i = 0; i < grants_.size(); ++i) {
      allocation->Add(o.job[static_cast<std::size_t>(grants_[i].row)], grants_[i].configuration,
                      sizing_->PlaceOf(i));
    }
  }

  // Ties by job, which is the order of submission, not by row, so that the answer does not depend
  // on the rows' order.
  void Sort(const Observation& o) {
    const bool by_own_service = keys_over_time_ != nullptr && keys_over_time_->by_own_service();
    memory_.Follow(o, rows_, by_own_service && !keys_over_time_->keys_stay());
    std::span<const std::int32_t> positions = memory_.touched();
    std::span<const std::int32_t> asked = RowsAt(o, positions, &asked_);
    const bool starved =
        guard_.on() &&
        guard_.Observe(o, memory_.gone(), RowsAt(o, memory_.changed(), &changed_rows_));
    if (starved || !by_own_service) {
      positions_.resize(rows_.size());
      std::iota(positions_.begin(), positions_.end(), 0);
      positions = positions_;
      asked = rows_;
    }
    ordering_->Keys(o, asked, &keys_);
    // Before the key: 0 starved, 1 by key, +2 waits behind those who run.
    ranks_.assign(asked.size(), 1);
    const bool keep_running_first = !ordering_->preemptive();
    if (keep_running_first || guard_.any_starved()) {
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto row = static_cast<std::size_t>(asked[i]);
        ranks_[i] = static_cast<std::int8_t>((guard_.Starved(o.job[row]) ? 0 : 1) +
                                             (keep_running_first && o.running[row] < 0 ? 2 : 0));
      }
    }
    memory_.Update(positions, keys_, ranks_);
    order_ = RowsAt(o, memory_.order(), &order_rows_);
  }

  // The rows at these positions; where all rows are admitted, they are the same.
  std::span<const std::int32_t> RowsAt(const Observation& o,
                                       std::span<const std::int32_t> positions,
                                       std::vector<std::int32_t>* rows) const {
    if (rows_.size() == o.job.size()) return positions;
    rows->resize(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
      (*rows)[i] = rows_[static_cast<std::size_t>(positions[i])];
    }
    return *rows;
  }

  // When a row that is given something may fall behind one that waits, or one that waits starve:
  // until then the order gives the same answer.
  Seconds OrderHoldsUntil(const Observation& o) {
    // No later than this the next question comes anyway.
    const Seconds next = (std::floor(o.now / o.interval) + 1) * o.interval;
    const std::span<const std::int32_t> tail = order_.subspan(given_.size());
    const std::span<const double> keys = memory_.keys();
    Seconds until = kNever;
    if (order_is_time_driven_) {
      // From the last row to the first, so that the next waiting one is known.
      bool any_waiting = !tail.empty();
      double next_waiting = any_waiting ? keys[given_.size()] : kNever;
      for (std::size_t i = given_.size(); i-- > 0 && until > next;) {
        if (given_[i] < 0) {
          any_waiting = true;
          next_waiting = keys[i];
        } else if (any_waiting) {
          const IncrementalOrdering::Drift drift = DriftOf(o, order_[i], given_[i]);
          until = std::min(until, drift.until);
          const double lead = next_waiting - keys[i];
          if (drift.rate == 1) {
            until = std::min(until, o.now + lead);
          } else if (drift.rate > 0) {
            until = std::min(until, o.now + lead / drift.rate);
          }
        }
      }
    }
    if (until <= next) return until;
    // Asked of those that do not run yet.
    const auto is_given = [this](JobIndex job) {
      return std::find(launched_.begin(), launched_.end(), job) != launched_.end();
    };
    for (const std::span<const std::int32_t> waiting :
         {std::span<const std::int32_t>(waiting_), tail}) {
      if (order_is_time_driven_ && keys_over_time_ != nullptr) {
        until = std::min(until, keys_over_time_->WaitMoves(o, waiting));
      }
      until = guard_.FirstToStarve(o, waiting, is_given, until);
    }
    return until;
  }

  IncrementalOrdering::Drift DriftOf(const Observation& o, std::int32_t row,
                                     std::int32_t configuration) const {
    if (keys_over_time_ == nullptr) return {0, o.now};
    return keys_over_time_->DriftOf(o, row, configuration);
  }

  // The configurations that the first rows of the order are given, -1: none, up to the last that is
  // given one; which of those wait, and who is launched.
  void FindGiven(const Observation& o, std::span<const std::int32_t> running) {
    given_.clear();
    waiting_.clear();
    launched_.clear();
    std::size_t count = order_.size();
    while (count > 0 && running[static_cast<std::size_t>(order_[count - 1])] < 0) --count;
    for (const std::int32_t row : order_.first(count)) {
      const auto r = static_cast<std::size_t>(row);
      given_.push_back(running[r]);
      if (running[r] < 0) {
        waiting_.push_back(row);
      } else if (guard_.on() && guard_.Waited(o.job[r])) {
        launched_.push_back(o.job[r]);
      }
    }
  }

  PolicyInfo info_;
  bool keeps_batches_;
  StarvationGuard guard_;
  bool promises_ = false;  // promises how long an answer is valid
  bool order_is_time_driven_ = false;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Ordering> ordering_;
  std::unique_ptr<TypeAssignment> types_;
  std::unique_ptr<Sizing> sizing_;
  TypedSizing typed_sizing_;
  std::unique_ptr<Placement> placement_;
  const IncrementalOrdering* keys_over_time_ = nullptr;   // null: not known
  IncrementalPlacement* placement_as_changes_ = nullptr;  // null: full answers only
  std::vector<std::int32_t> rows_;
  OrderMemory memory_;
  std::vector<double> keys_;
  std::vector<std::int8_t> ranks_;
  std::span<const std::int32_t> order_;  // rows
  // Where rows_ are not all rows, what order_ and the rows to ask for keys point to.
  std::vector<std::int32_t> order_rows_;
  std::vector<std::int32_t> asked_;
  std::vector<std::int32_t> changed_rows_;
  std::vector<std::int32_t> positions_;
  std::vector<Grant> grants_;
  std::vector<PairedGrant> paired_;
  PairedPlacement paired_placement_;
  std::vector<std::int32_t> given_;    // by place in the order
  std::vector<std::int32_t> waiting_;  // rows
  std::vector<JobIndex> launched_;
};

}  // namespace

PolicyInfo StagedPolicyInfo(std::string id, std::string summary, const StageSpecs& stages,
                            const std::vector<ParamSpec>& ordering_params) {
  PolicyInfo info;
  info.id = std::move(id);
  info.summary = std::move(summary);
  info.params = ordering_params;
  info.params.push_back(
      StageParam<Admission>({"admission", stages.admission, "stage: which jobs are considered"}));
  info.params.push_back(
      StageParam<Ordering>({"ordering", stages.ordering, "stage: order of the jobs"}));
  info.params.push_back(StageParam<TypeAssignment>(
      {"types", stages.types, "stage: on which GPU type each job runs, where there are several"}));
  info.params.push_back(
      StageParam<Sizing>({"sizing", stages.sizing, "stage: how much each job gets"}));
  info.params.push_back(
      StageParam<Placement>({"placement", stages.placement, "stage: which GPUs on which nodes"}));
  info.params.push_back({"max-wait", "0",
                         "seconds of waiting after which a job goes before all others (0: never)",
                         0, 1e12});
  info.params.push_back({"keep-batch", "false",
                         "jobs train with the batch that their users asked for (docs/goodput.md)"});
  info.make = [info, ordering_params](const Params& params) -> std::unique_ptr<Policy> {
    StageSpecs chosen;
    chosen.admission = NestedSpec(params.Text("admission"));
    chosen.ordering = NestedSpec(params.Text("ordering"));
    chosen.types = NestedSpec(params.Text("types"));
    chosen.sizing = NestedSpec(params.Text("sizing"));
    chosen.placement = NestedSpec(params.Text("placement"));
    char separator = ':';
    for (const ParamSpec& param : ordering_params) {
      if (params.Text(param.name).empty()) continue;
      chosen.ordering += fmt::format("{}{}={}", separator, param.name, params.Text(param.name));
      separator = ',';
    }
    return std::make_unique<StagedPolicy>(info, chosen, params.Number("max-wait"),
                                          params.Flag("keep-batch"), params.loader());
  };
  return info;
}

}  // namespace allot
