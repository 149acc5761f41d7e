#include "stages/shared_policy.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/index.h"
#include "stages/nested_spec.h"
#include "stages/rounds.h"

namespace allot {
namespace {

class SharedPolicy : public Policy {
 public:
  SharedPolicy(PolicyInfo info, const SharedSpecs& stages, const ParamLoader& loader)
      : info_(std::move(info)),
        admission_(MakeStage<Admission>("admission", stages.admission, loader)),
        sharing_(MakeStage<Sharing>("sharing", stages.sharing, loader)),
        placement_(MakeStage<Placement>("placement", stages.placement, loader)) {
    const std::string name = ParseNamedParams(stages.sharing).name;
    info_.needs_lengths = Registry<SharingInfo>::Global().Get("sharing", name).needs_lengths;
    info_.time_driven = true;
  }

  const PolicyInfo& info() const override { return info_; }

  PolicyNotes notes() const override { return sharing_->notes(); }

  void OnEpisodeStart(const EpisodeContext& context) override {
    admission_->OnEpisodeStart(context);
    sharing_->OnEpisodeStart(context);
    rounds_.OnEpisodeStart();
    aimed_at_.clear();
  }

  void Decide(const Observation& o, Allocation* allocation) override {
    rows_.clear();
    admission_->Admit(o, &rows_);
    rounds_.Account(o);
    if (NewTargets(o)) {
      targets_.clear();
      sharing_->Share(o, rows_, &targets_);
      rounds_.Aim(o, targets_);
    }
    given_.clear();
    rounds_.Fill(o, rows_, &given_);
    grants_.clear();
    // Large ones first, while whole nodes are free.
    std::stable_sort(given_.begin(), given_.end(),
                     [&](const auto& a, const auto& b) { return GpusOf(o, a) > GpusOf(o, b); });
    for (const Rounds::Given& given : given_) grants_.push_back({given.row, PlacedAs(o, given)});
    placement_->Place(o, grants_, allocation);
    Tell(o, allocation);
  }

 private:
  // Whether jobs have come or gone, or tables were renewed.
  bool NewTargets(const Observation& o) {
    seen_.clear();
    for (const std::int32_t row : rows_) {
      seen_.emplace_back(o.job[At(row)], o.table[At(row)]->fingerprint());
    }
    std::sort(seen_.begin(), seen_.end());
    if (seen_ == aimed_at_) return false;
    std::swap(seen_, aimed_at_);
    return true;
  }

  static GpuCount GpusOf(const Observation& o, const Rounds::Given& given) {
    return (*o.table[At(given.row)])[given.configuration].demand.gpus;
  }

  // A pair is placed as its first job would be alone, or stays where it is.
  static std::int32_t PlacedAs(const Observation& o, const Rounds::Given& given) {
    if (given.partner_row < 0 || o.running[At(given.row)] == given.configuration) {
      return given.configuration;
    }
    const ConfigurationTable& table = *o.table[At(given.row)];
    return table.OnType(given.configuration, table[given.configuration].gpu_type);
  }

  // Shares and partners, which placements do not know of.
  void Tell(const Observation& o, Allocation* allocation) {
    std::map<JobIndex, const Rounds::Given*> of_job;
    for (const Rounds::Given& given : given_) of_job[o.job[At(given.row)]] = &given;
    const std::size_t placed = allocation->entries().size();
    for (std::size_t e = 0; e < placed; ++e) {
      const Rounds::Given& given = *of_job.at(allocation->entries()[e].job);
      allocation->SetShare(e, given.share);
      if (given.partner_row < 0) continue;
      allocation->Pair(e, given.configuration, o.job[At(given.partner_row)],
                       given.partner_configuration);
    }
  }

  PolicyInfo info_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Sharing> sharing_;
  std::unique_ptr<Placement> placement_;
  Rounds rounds_;
  std::vector<std::pair<JobIndex, std::uint64_t>> seen_;
  std::vector<std::pair<JobIndex, std::uint64_t>> aimed_at_;
  std::vector<std::int32_t> rows_;
  std::vector<TimeShare> targets_;
  std::vector<Rounds::Given> given_;
  std::vector<Grant> grants_;
};

}  // namespace

PolicyInfo SharedPolicyInfo(std::string id, std::string summary, const SharedSpecs& stages) {
  PolicyInfo info;
  info.id = std::move(id);
  info.summary = std::move(summary);
  info.time_driven = true;
  info.params = {{"admission", stages.admission, "stage: which jobs are considered"},
                 {"sharing", stages.sharing, "stage: how much time in which configuration"},
                 {"placement", stages.placement, "stage: which GPUs on which nodes"}};
  info.make = [info](const Params& params) -> std::unique_ptr<Policy> {
    return std::make_unique<SharedPolicy>(
        info,
        SharedSpecs{NestedSpec(params.Text("admission")), NestedSpec(params.Text("sharing")),
                    NestedSpec(params.Text("placement"))},
        params.loader());
  };
  return info;
}

}  // namespace allot
