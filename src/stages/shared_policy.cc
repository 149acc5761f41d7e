#include "stages/shared_policy.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cluster/free_map.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "stages/nested_spec.h"

namespace allot {
namespace {

class SharedPolicy : public Policy {
 public:
  SharedPolicy(PolicyInfo info, const Params& params, std::unique_ptr<Sharing> sharing)
      : info_(std::move(info)),
        admission_(MakeStage<Admission>("admission", NestedSpec(params.Text("admission")),
                                        params.loader())),
        sharing_(std::move(sharing)),
        placement_(MakeStage<Placement>("placement", NestedSpec(params.Text("placement")),
                                        params.loader())),
        rounds_(RoundsOptionsOf(params)) {
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

  void Decide(const Observation& o, Allocation* allocation) override {
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
    grants_.clear();
    for (const Rounds::Given& given : given_) {
      const Grant grant = GrantOf(o, given);
      if (grant.configuration >= 0) grants_.push_back(grant);
    }
    placement_->Place(o, grants_, allocation);
    Tell(o, allocation);
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

  // A pair is placed as its first job would be alone, or stays where it is. -1: not at all.
  static Grant GrantOf(const Observation& o, const Rounds::Given& given) {
    if (given.partner_row < 0) return {given.row, given.configuration};
    const bool stays = o.running[At(given.row)] == given.configuration &&
                       o.running[At(given.partner_row)] == given.partner_configuration &&
                       o.partner_of(given.row) == o.job[At(given.partner_row)];
    if (stays) return {given.row, given.configuration};
    const ConfigurationTable& table = *o.table[At(given.row)];
    const Configuration& c = table[given.configuration];
    return {given.row, table.Find(c.units, c.gpu_type), true};
  }

  // Shares and partners, which placements do not know of.
  void Tell(const Observation& o, Allocation* allocation) {
    const std::size_t placed = allocation->entries().size();
    std::size_t next = 0;
    bool pairs = false;
    for (std::size_t e = 0; e < placed; ++e) {
      const Rounds::Given& given = GivenTo(o, allocation->entries()[e].job, &next);
      allocation->SetShare(e, given.share);
      pairs = pairs || given.partner_row >= 0;
    }
    if (pairs) TellPairs(o, placed, allocation);
  }

  // Placements mostly serve in order.
  const Rounds::Given& GivenTo(const Observation& o, JobIndex job, std::size_t* next) {
    for (std::size_t looked = 0; looked < given_.size(); ++looked) {
      if (*next == given_.size()) *next = 0;
      const Rounds::Given& given = given_[(*next)++];
      if (o.job[At(given.row)] == job) return given;
    }
    throw RunError("a placement serves grants only: job {} has none of the {}", job, given_.size());
  }

  // The second of a pair needs CPUs and memory beside the first, which the placement has not looked
  // at, and the nodes must be as many as both can lie on: else the first has the GPUs alone.
  void TellPairs(const Observation& o, std::size_t placed, Allocation* allocation) {
    free_.Reset(*o.cluster);
    std::size_t next = 0;
    std::vector<const Rounds::Given*>& of = given_of_entry_;
    of.clear();
    for (std::size_t e = 0; e < placed; ++e) {
      const Allocation::Entry& entry = allocation->entries()[e];
      of.push_back(&GivenTo(o, entry.job, &next));
      const auto& kinds = o.table[At(of.back()->row)]->kinds();
      for (const NodeShare& share : allocation->shares(entry)) {
        free_.TakeExactly(share.node, share.gpus, DemandOf(kinds, share.units));
      }
    }
    for (std::size_t e = 0; e < placed; ++e) {
      const Rounds::Given& given = *of[e];
      if (given.partner_row < 0) continue;
      if (Joins(o, given, allocation->shares(allocation->entries()[e]))) {
        allocation->Pair(e, given.configuration, o.job[At(given.partner_row)],
                         given.partner_configuration);
      } else {
        const ConfigurationTable& table = *o.table[At(given.row)];
        const Configuration& c = table[given.configuration];
        const std::size_t nodes = allocation->shares(allocation->entries()[e]).size();
        allocation->SetConfiguration(e, table.Find(c.units, c.gpu_type, nodes));
      }
    }
  }

  bool Joins(const Observation& o, const Rounds::Given& given, std::span<const NodeShare> shares) {
    const ConfigurationTable& table = *o.table[At(given.row)];
    const ConfigurationTable& other = *o.table[At(given.partner_row)];
    if (!table[given.configuration].span.Holds(shares.size())) return false;
    if (!other[given.partner_configuration].span.Holds(shares.size())) return false;
    for (std::size_t s = 0; s < shares.size(); ++s) {
      const Resources demand = DemandOf(other.kinds(), shares[s].units);
      if (free_.Join(shares[s].node, shares[s].gpus, demand)) continue;
      while (s-- > 0) {
        free_.Release(shares[s].node, shares[s].gpus, DemandOf(other.kinds(), shares[s].units));
      }
      return false;
    }
    return true;
  }

  PolicyInfo info_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<Sharing> sharing_;
  std::unique_ptr<Placement> placement_;
  Rounds rounds_;
  std::vector<std::pair<JobIndex, std::uint64_t>> seen_;
  std::vector<std::pair<JobIndex, std::uint64_t>> known_;
  std::vector<Resources> known_totals_;
  bool wants_targets_ = false;
  FreeMap free_;
  std::vector<std::int32_t> rows_;
  std::vector<TimeShare> targets_;
  std::vector<Rounds::Given> given_;
  std::vector<const Rounds::Given*> given_of_entry_;
  std::vector<Grant> grants_;
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
      {"admission", stages.admission, "stage: which jobs are considered"},
      {"sharing", stages.sharing, "stage: how much time in which configuration"},
      {"placement", stages.placement, "stage: which GPUs on which nodes"},
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
      {"by-work", "false", "received is the time that the work done took, not the time held"}};
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
