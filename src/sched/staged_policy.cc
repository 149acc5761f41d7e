#include "sched/staged_policy.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sched/order_memory.h"
#include "sched/starvation_guard.h"

namespace allot {
namespace {

class StagedPolicy : public Policy {
 public:
  StagedPolicy(PolicyInfo info, const StageSpecs& stages, Seconds guard)
      : info_(std::move(info)),
        guard_(guard),
        admission_(MakeStage<Admission>("admission", stages.admission)),
        ordering_(MakeStage<Ordering>("ordering", stages.ordering)),
        sizing_(MakeStage<Sizing>("sizing", stages.sizing)),
        placement_(MakeStage<Placement>("placement", stages.placement)) {
    const auto take = [this](const auto& stage) {
      info_.needs_lengths = info_.needs_lengths || stage.needs_lengths;
      info_.time_driven = info_.time_driven || stage.time_driven;
    };
    const auto name = [](const std::string& spec) { return ParseNamedParams(spec).name; };
    const AdmissionInfo& admission =
        Registry<AdmissionInfo>::Global().Get("admission", name(stages.admission));
    take(admission);
    admission_is_time_driven_ = admission.time_driven;
    const OrderingInfo& ordering =
        Registry<OrderingInfo>::Global().Get("ordering", name(stages.ordering));
    take(ordering);
    order_is_time_driven_ = ordering.time_driven;
    take(Registry<SizingInfo>::Global().Get("sizing", name(stages.sizing)));
    take(Registry<PlacementInfo>::Global().Get("placement", name(stages.placement)));
    info_.time_driven = info_.time_driven || guard_.on();
  }

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext&) override {
    admission_->OnEpisodeStart();
    ordering_->OnEpisodeStart();
    guard_.OnEpisodeStart();
    sorter_.Forget();
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    rows_.clear();
    admission_->Admit(o, &rows_);
    ordering_->Keys(o, rows_, &keys_);
    guard_.Observe(o, rows_);
    Sort(o);
    grants_.clear();
    sizing_->Size(o, order_, sorted_keys_, &grants_);
    if (sizing_->places()) {
      allocation->Clear();
      for (const Grant& grant : grants_) {
        allocation->Add(o.job[static_cast<std::size_t>(grant.row)], grant.configuration,
                        grant.place);
      }
      return;
    }
    placement_->Place(o, grants_, allocation);
    if (info_.time_driven && !admission_is_time_driven_ && sizing_->follows_order() &&
        placement_->settles()) {
      allocation->HoldUntil(OrderHoldsUntil(o, *allocation));
    }
  }

 private:
  void Sort(const Observation& o) {
    const bool keep_running_first = !ordering_->preemptive();
    ranks_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows_[i]);
      // Before the key: 0 starved, 1 by key, +2 waits behind those who run.
      ranks_[i] = static_cast<std::int8_t>((guard_.Starved(o.job[row]) ? 0 : 1) +
                                           (keep_running_first && o.running[row] < 0 ? 2 : 0));
    }
    // Ties by job, which is the order of submission, not by row, so that the answer does not depend
    // on the rows' order.
    sorter_.Sort(rows_, o.job, keys_, ranks_, &order_, &sorted_keys_);
  }

  // When a running row may fall behind a waiting one, or a waiting one starve: until then the order
  // gives the same answer.
  Seconds OrderHoldsUntil(const Observation& o, const Allocation& allocation) {
    FindGiven(o, allocation);
    const std::span<const std::int32_t> tail = std::span(order_).subspan(given_.size());
    Seconds until = kNever;
    if (order_is_time_driven_) {
      // From the last row to the first, so that the next waiting one is known.
      bool any_waiting = !tail.empty();
      double next_waiting = any_waiting ? sorted_keys_[given_.size()] : kNever;
      for (std::size_t i = given_.size(); i-- > 0;) {
        if (given_[i] < 0) {
          any_waiting = true;
          next_waiting = sorted_keys_[i];
        } else if (any_waiting) {
          const Ordering::Drift drift = ordering_->DriftOf(o, order_[i], given_[i]);
          until = std::min(until, drift.until);
          if (drift.rate > 0) {
            until = std::min(until, o.now + (next_waiting - sorted_keys_[i]) / drift.rate);
          }
        }
      }
    }
    for (const std::span<const std::int32_t> waiting :
         {std::span<const std::int32_t>(waiting_), tail}) {
      if (order_is_time_driven_) until = std::min(until, ordering_->WaitMoves(o, waiting));
      until = guard_.FirstToStarve(o, waiting, until);
    }
    return until;
  }

  // The configurations that the first rows of the order are given, -1: none, up to the last that is
  // given one; and which of those wait.
  void FindGiven(const Observation& o, const Allocation& allocation) {
    for (const Allocation::Entry& entry : allocation.entries()) {
      const auto job = static_cast<std::size_t>(entry.job);
      if (job >= configuration_of_job_.size()) configuration_of_job_.resize(job + 1, -1);
      configuration_of_job_[job] = entry.configuration;
    }
    given_.clear();
    waiting_.clear();
    std::size_t to_find = allocation.entries().size();
    for (std::size_t i = 0; to_find > 0 && i < order_.size(); ++i) {
      const auto job = static_cast<std::size_t>(o.job[static_cast<std::size_t>(order_[i])]);
      given_.push_back(job < configuration_of_job_.size() ? configuration_of_job_[job] : -1);
      if (given_.back() < 0) {
        waiting_.push_back(order_[i]);
      } else {
        configuration_of_job_[job] = -1;
        --to_find;
      }
    }
  }

  PolicyInfo info_;
  StarvationGuard guard_;
  bool admission_is_time_driven_ = false;
  bool order_is_time_driven_ = false;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Ordering> ordering_;
  std::unique_ptr<Sizing> sizing_;
  std::unique_ptr<Placement> placement_;
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> order_;
  std::vector<double> keys_;
  std::vector<double> sorted_keys_;
  std::vector<std::int8_t> ranks_;
  OrderMemory sorter_;
  std::vector<Grant> grants_;
  std::vector<std::int32_t> given_;                 // by place in the order
  std::vector<std::int32_t> waiting_;               // rows
  std::vector<std::int32_t> configuration_of_job_;  // by job; -1 outside FindGiven
};

// "hull/alpha=0.5/beta=1" (a stage inside a policy spec) -> "hull:alpha=0.5,beta=1".
std::string StageSpec(std::string text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return text;
  text[slash] = ':';
  std::replace(text.begin() + static_cast<std::ptrdiff_t>(slash), text.end(), '/', ',');
  return text;
}

}  // namespace

PolicyInfo StagedPolicyInfo(std::string id, std::string summary, const StageSpecs& stages,
                            std::vector<ParamSpec> ordering_params) {
  PolicyInfo info;
  info.id = std::move(id);
  info.summary = std::move(summary);
  info.params = ordering_params;
  info.params.push_back({"admission", stages.admission, "stage: which jobs are considered"});
  info.params.push_back({"ordering", stages.ordering, "stage: who comes first"});
  info.params.push_back({"sizing", stages.sizing, "stage: how much each job gets"});
  info.params.push_back({"placement", stages.placement, "stage: which GPUs on which nodes"});
  info.params.push_back({"guard", "0",
                         "seconds of waiting after which a job precedes all others (0: never)", 0,
                         1e12});
  info.make = [info, ordering_params](const Params& params) -> std::unique_ptr<Policy> {
    StageSpecs chosen;
    chosen.admission = StageSpec(params.Text("admission"));
    chosen.ordering = StageSpec(params.Text("ordering"));
    chosen.sizing = StageSpec(params.Text("sizing"));
    chosen.placement = StageSpec(params.Text("placement"));
    char separator = ':';
    for (const ParamSpec& param : ordering_params) {
      if (params.Text(param.name).empty()) continue;
      chosen.ordering += fmt::format("{}{}={}", separator, param.name, params.Text(param.name));
      separator = ',';
    }
    return std::make_unique<StagedPolicy>(info, chosen, params.Number("guard"));
  };
  return info;
}

}  // namespace allot
