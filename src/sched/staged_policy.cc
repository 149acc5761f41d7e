#include "sched/staged_policy.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace allot {
namespace {

class StagedPolicy : public Policy {
 public:
  StagedPolicy(PolicyInfo info, const StageSpecs& stages)
      : info_(std::move(info)),
        admission_(MakeStage<Admission>("admission", stages.admission)),
        ordering_(MakeStage<Ordering>("ordering", stages.ordering)),
        sizing_(MakeStage<Sizing>("sizing", stages.sizing)),
        placement_(MakeStage<Placement>("placement", stages.placement)) {
    const auto take = [this](const auto& stage) {
      info_.needs_lengths = info_.needs_lengths || stage.needs_lengths;
      info_.time_driven = info_.time_driven || stage.time_driven;
    };
    const auto name = [](const std::string& spec) { return ParseNamedParams(spec).name; };
    take(Registry<AdmissionInfo>::Global().Get("admission", name(stages.admission)));
    take(Registry<OrderingInfo>::Global().Get("ordering", name(stages.ordering)));
    take(Registry<SizingInfo>::Global().Get("sizing", name(stages.sizing)));
    take(Registry<PlacementInfo>::Global().Get("placement", name(stages.placement)));
  }

  const PolicyInfo& info() const override { return info_; }

  void OnEpisodeStart(const EpisodeContext&) override {
    admission_->OnEpisodeStart();
    ordering_->OnEpisodeStart();
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    rows_.clear();
    admission_->Admit(o, &rows_);
    ordering_->Keys(o, rows_, &keys_);
    Sort(o);
    grants_.clear();
    sizing_->Size(o, order_, sorted_keys_, &grants_);
    placement_->Place(o, grants_, allocation);
  }

 private:
  struct Ranked {
    double key;
    std::int32_t row;
    bool waits_behind;  // a waiting job under a non-preemptive order
  };

  void Sort(const Observation& o) {
    const bool keep_running_first = !ordering_->preemptive();
    ranked_.clear();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto row = static_cast<std::size_t>(rows_[i]);
      ranked_.push_back({keys_[i], rows_[i], keep_running_first && o.running[row] < 0});
    }
    // Ties by (submit, job), not by row, so that the answer does not depend on the rows' order.
    std::sort(ranked_.begin(), ranked_.end(), [&o](const Ranked& a, const Ranked& b) {
      if (a.waits_behind != b.waits_behind) return b.waits_behind;
      if (a.key != b.key) return a.key < b.key;
      const auto i = static_cast<std::size_t>(a.row);
      const auto j = static_cast<std::size_t>(b.row);
      if (o.submit[i] != o.submit[j]) return o.submit[i] < o.submit[j];
      return o.job[i] < o.job[j];
    });
    order_.clear();
    sorted_keys_.clear();
    for (const Ranked& ranked : ranked_) {
      order_.push_back(ranked.row);
      sorted_keys_.push_back(ranked.key);
    }
  }

  PolicyInfo info_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Ordering> ordering_;
  std::unique_ptr<Sizing> sizing_;
  std::unique_ptr<Placement> placement_;
  std::vector<std::int32_t> rows_;
  std::vector<std::int32_t> order_;
  std::vector<double> keys_;
  std::vector<double> sorted_keys_;
  std::vector<Ranked> ranked_;
  std::vector<Grant> grants_;
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
    return std::make_unique<StagedPolicy>(info, chosen);
  };
  return info;
}

}  // namespace allot
