#include "sim/scenario.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "cluster/gpu_slowness.h"
#include "core/check.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "perf/elastic.h"
#include "perf/table_cache.h"
#include "sim/autoscaler.h"
#include "sim/belief.h"
#include "sim/model_process.h"

namespace allot {
namespace {

// Of an application that is not given more, unless its user asks for more.
void LimitGpus(const ModelPtr& model, Job* job) {
  const ApplicationModel* application = model == nullptr ? nullptr : AsApplication(*model);
  if (application == nullptr) return;
  const GpuCount most = application->application()->types().front().most_gpus;
  if (most > 0) job->max_gpus = std::min(job->highest(), std::max(most, job->gpus));
}

// Without a model nobody knows how fast the job is at another size than the one that it asks for.
// The job as it then runs, where its trace allows other sizes.
std::optional<Job> AtItsOwnSize(const Job& job) {
  if (job.model >= 0 || job.rigid()) return std::nullopt;
  Job fixed = job;
  KeepRequestedSize(&fixed);
  return fixed;
}

// Makes the models of jobs whose rate depends on their place, once for each base and communication.
class PlacedModels {
 public:
  explicit PlacedModels(const ClusterSpec& cluster) : cluster_(cluster) {}

  // Null: the rate does not depend on the place.
  std::shared_ptr<const PlacedModel> Of(const ModelPtr& model, const Job& job,
                                        const std::string& slowness_class) {
    const bool in_network = cluster_.topology() != nullptr && job.communication.share > 0;
    const bool gpus_differ =
        cluster_.slowness() != nullptr && !cluster_.slowness()->Of(slowness_class).empty();
    if (!in_network && !gpus_differ) return nullptr;
    const ModelPtr& base = model == nullptr ? constant_ : model;
    auto& placed = made_[{base.get(), job.communication.share, job.communication.pattern}];
    if (placed == nullptr) placed = std::make_shared<const PlacedModel>(base, job.communication);
    return placed;
  }

 private:
  const ClusterSpec& cluster_;
  ModelPtr constant_ = MakeConstantModel();
  std::map<std::tuple<const ThroughputModel*, float, CommunicationPattern>,
           std::shared_ptr<const PlacedModel>>
      made_;
};

// Of a simulation, the job can be left out or changed: --oversized (experiment/oversized.h).
void RequireFit(const TableCache& tables, const Workload& workload, const Job& job) {
  const Status fits = tables.Fits(workload, job);
  if (fits.ok()) return;
  throw DataError("{}; --oversized drop leaves such jobs out, --oversized clip makes them smaller",
                  fits.message());
}

}  // namespace

Scenario::Scenario(Workload workload, ClusterSpec cluster, SimOptions options,
                   const Catalogue& catalogue, std::span<const double> estimates)
    : workload_(std::move(workload)),
      cluster_(std::move(cluster)),
      options_(std::move(options)),
      catalogue_id_(catalogue.id()),
      profiles_csv_(catalogue.csv()) {
  ALLOT_CHECK(estimates.empty() || estimates.size() == workload_.jobs.size());
  if (workload_.jobs.empty()) throw DataError("workload '{}' has no job", workload_.name);
  // Bounds keep the clock exact: a year in milliseconds, or a century in intervals of a century.
  constexpr Seconds kShortest = 1e-3;
  constexpr Seconds kLongest = 1e9;
  if (!(options_.interval >= kShortest && options_.interval <= kLongest)) {
    throw UsageError("the decision interval must be > 0 s, from {} to {}, got {}", kShortest,
                     kLongest, options_.interval);
  }
  if (!(options_.restart_cost >= 0 && options_.restart_cost <= kLongest)) {
    throw UsageError("the restart cost must be >= 0 s and at most {}, got {}", kLongest,
                     options_.restart_cost);
  }
  if (!(options_.launch_cost >= 0 && options_.launch_cost <= kLongest)) {
    throw UsageError("the launch cost must be >= 0 s and at most {}, got {}", kLongest,
                     options_.launch_cost);
  }
  if (!(options_.speedup > 0)) {
    throw UsageError("the speed-up of progress must be > 0, got {}", options_.speedup);
  }
  PlanNodeEvents();
  CheckBelief(options_.beliefs);
  const ProcessInfo::Maker process_of = MakeProcesses(options_.progress);
  const auto types = std::make_shared<const std::vector<GpuTypeSpec>>(cluster_.type_specs());
  std::map<const ThroughputModel*, ProcessPtr> of_models;  // null: it does not vary
  const auto process_of_model = [&](const ModelPtr& model) -> ProcessPtr {
    if (model == nullptr || !model->varies()) return nullptr;
    ProcessPtr& known = of_models[model.get()];
    if (known == nullptr) known = MakeModelProcess(model, types);
    return known;
  };
  PlacedModels placed_models(cluster_);
  FindRules();
  if (options_.rules != nullptr) options_.rules->CheckGuarantees(cluster_);
  for (Job& job : workload_.jobs) LimitGpus(ModelOf(catalogue, workload_, job), &job);
  TableCache tables(catalogue, *types);
  tables.CheckTypes(workload_);
  facts_.reserve(workload_.jobs.size());
  for (const Job& as_traced : workload_.jobs) {
    ThrowIfInterrupted();
    const std::optional<Job> fixed = AtItsOwnSize(as_traced);
    if (fixed) ++fixed_sizes_;
    const Job& job = fixed ? *fixed : as_traced;
    RequireFit(tables, workload_, job);
    TableCache::Offer offer =
        tables.OfferFor(workload_, job, RulesOf(static_cast<JobIndex>(facts_.size())).sizes);
    const double estimate = estimates.empty() ? options_.lengths.Of(job, offer.work, options_.seed)
                                              : estimates[facts_.size()];
    const ModelPtr model = ModelOf(catalogue, workload_, job);
    const auto placed = placed_models.Of(model, job, offer.table->slowness_class());
    const ModelPtr played = placed == nullptr ? model : placed;
    facts_.push_back({std::move(offer.table), offer.requested, offer.work, estimate,
                      KeepVariation({Keep(process_of(offer.work, process_of_model(played))),
                                     Keep(std::dynamic_pointer_cast<const ApplicationModel>(model)),
                                     Keep(placed)})});
  }
  FindProcesses();
  CheckStarts();
  CheckRounds();
  CheckTraining();
  CheckAutoscale();
  CheckRules();
}

Scenario::Scenario(Workload workload, ClusterSpec cluster, SimOptions options,
                   std::vector<JobFacts> facts, const Catalogue& catalogue)
    : workload_(std::move(workload)),
      cluster_(std::move(cluster)),
      options_(std::move(options)),
      catalogue_id_(catalogue.id()),
      profiles_csv_(catalogue.csv()),
      facts_(std::move(facts)) {
  ALLOT_CHECK_EQ(workload_.jobs.size(), facts_.size());
  FindRules();
  PlanNodeEvents();
  FindProcesses();
  CheckStarts();
  CheckRounds();
  CheckTraining();
  CheckAutoscale();
  CheckRules();
}

void Scenario::FindRules() {
  if (options_.rules == nullptr) return;
  for (const Job& job : workload_.jobs) {
    job_rules_.push_back(
        options_.rules->RulesFor(workload_.tenants[job.tenant], workload_.users[job.user]));
    has_binding_rules_ = has_binding_rules_ || job_rules_.back().may_pin();
  }
  const std::vector<Maintenance>& windows = options_.rules->maintenance();
  has_binding_rules_ =
      has_binding_rules_ || !options_.rules->guarantees().empty() || HasFairShares() ||
      std::any_of(windows.begin(), windows.end(), [](const Maintenance& w) { return w.lead > 0; });
}

// One user alone has nobody to share with, and in whole rounds fair shares do not apply.
bool Scenario::HasFairShares() const {
  if (!options_.rules->fair_share() || options_.whole_rounds) return false;
  const Job& first = workload_.jobs.front();
  return std::ranges::any_of(workload_.jobs, [&first](const Job& job) {
    return job.tenant != first.tenant || job.user != first.user;
  });
}

void Scenario::CheckRules() const {
  if (!has_binding_rules_ || !options_.whole_rounds) return;
  throw UsageError(
      "rules of changes and shares are of jobs that keep their GPUs, not of whole rounds, at the "
      "end of which all stop; only 'sizes' may be said");
}

void Scenario::CheckStarts() const {
  if (start_plan_ == nullptr) return;
  if (!options_.whole_rounds && !options_.training.stepped) return;
  throw UsageError(
      "nodes fail starts of jobs that keep their GPUs, not with whole rounds or training in steps; "
      "got failures '{}'",
      options_.failures);
}

void Scenario::CheckRounds() const {
  if (!options_.whole_rounds) return;
  if (!node_events_.empty()) {
    throw UsageError("whole rounds are of nodes that stay, got {} events of nodes",
                     node_events_.size());
  }
  if (options_.checkpoints != SimOptions{}.checkpoints) {
    throw UsageError("whole rounds are of jobs that write no checkpoints, got '{}'",
                     options_.checkpoints);
  }
  if (has_processes_) {
    throw UsageError("whole rounds are of constant rates, got rates that vary (progress '{}')",
                     options_.progress);
  }
}

void Scenario::CheckAutoscale() const {
  if (options_.autoscale.empty()) return;
  (void)MakeAutoscaler(options_.autoscale);
  if (!node_events_.empty() || options_.whole_rounds) {
    throw UsageError(
        "autoscaling is of nodes that do not fail and of decisions at intervals: got '{}' with {} "
        "events of nodes{}",
        options_.autoscale, node_events_.size(), options_.whole_rounds ? " and whole rounds" : "");
  }
}

void Scenario::CheckTraining() const {
  for (std::size_t j = 0; j < facts_.size(); ++j) {
    const Job& job = workload_.jobs[j];
    if (facts_[j].application() == nullptr || !(job.batch > 0)) continue;
    const Application& application = *facts_[j].application()->application();
    double most = 0;
    for (const GpuTypeIndex type : facts_[j].table->types()) {
      const ApplicationOnType* const on = application.On(cluster_.types()[At(type)]);
      if (on != nullptr) most = std::max(most, on->limits.most);
    }
    if (job.batch >= application.initial_batch() && job.batch <= most) continue;
    throw DataError("job '{}' asks for a batch of {}, '{}' ({}) trains with {} to {} samples{}",
                    job.id, job.batch, application.name(), application.place(),
                    application.initial_batch(), most, workload_.PlaceOf(job));
  }
  const TrainingRules& rules = options_.training;
  if (!(rules.interference >= 0 && rules.interference < 1)) {
    throw UsageError("interference must be a share from 0 to 1 of the rate, got {}",
                     rules.interference);
  }
  if (!rules.stepped) return;
  if (has_placed_jobs_) {
    throw UsageError(
        "training in steps is of places that do not matter, got jobs with a comm_share on a "
        "cluster with a topology, or GPUs that differ");
  }
  if (!node_events_.empty()) {
    throw UsageError("training in steps is of nodes that stay, got {} events of nodes",
                     node_events_.size());
  }
  if (options_.checkpoints != SimOptions{}.checkpoints) {
    throw UsageError("training in steps is of jobs that write no checkpoints, got '{}'",
                     options_.checkpoints);
  }
  if (options_.decide_on_events || options_.whole_rounds) {
    throw UsageError("training in steps is of decisions at intervals of {} s, not at {}",
                     options_.interval, options_.whole_rounds ? "ends of rounds" : "events");
  }
}

const Scenario::Variation* Scenario::KeepVariation(const Variation& of_job) {
  if (of_job == Variation{}) return nullptr;
  const Variation* const last = facts_.empty() ? nullptr : facts_.back().variation;
  return last != nullptr && *last == of_job ? last
                                            : Keep(std::make_shared<const Variation>(of_job));
}

void Scenario::FindProcesses() {
  has_processes_ = std::any_of(facts_.begin(), facts_.end(),
                               [](const JobFacts& facts) { return facts.process() != nullptr; });
  has_placed_jobs_ = std::any_of(facts_.begin(), facts_.end(),
                                 [](const JobFacts& facts) { return facts.placed() != nullptr; });
}

bool Scenario::tells_true_lengths() const {
  // Limits that users gave are no truth, even where every job ran for as long as its limit.
  if (options_.lengths.kind == LengthEstimates::Kind::kUser) return false;
  return std::all_of(facts_.begin(), facts_.end(),
                     [](const JobFacts& facts) { return facts.estimate == facts.work; });
}

bool Scenario::loses_gpu_time() const {
  return failure_rate_ > 0 || start_plan_ != nullptr || !options_.node_events.empty() ||
         lending_ != nullptr || CheckpointsOn(1).progress() < 1;
}

void Scenario::PlanLending(Seconds horizon) {
  if (options_.services.empty()) return;
  if (options_.whole_rounds || options_.training.stepped || !options_.autoscale.empty()) {
    throw UsageError(
        "services lend nodes to jobs that keep their GPUs, not with whole rounds, training in "
        "steps or autoscaling; got services '{}'",
        options_.services);
  }
  lending_ = std::make_shared<const Lending>(
      LendingTerms{options_.services, options_.lend, options_.recall_notice}, cluster_,
      ServiceSpan{cluster_.total().gpus, workload_.jobs.back().submit, horizon, options_.seed});
}

void Scenario::PlanNodeEvents() {
  const std::size_t nodes = cluster_.nodes().size();
  for (const NodeEvent& event : options_.node_events) {
    if (static_cast<std::size_t>(event.node) >= nodes) {
      throw DataError("node events name nodes of the cluster: node {} at {} s, it has {} (from 0)",
                      event.node, event.time, nodes);
    }
  }
  // Random failures end some time after the last arrival, so that every run ends.
  const Seconds horizon = 2 * workload_.jobs.back().submit + 30 * 86400.0;
  std::vector<NodeEvent> drawn;
  if (const auto law = MakeFaultLaw(options_.failures)) {
    law->CheckNodes(nodes);
    if (law->starts()) {
      start_plan_ =
          std::make_shared<const StartPlan>(*law, workload_, nodes, horizon, options_.seed);
      has_binding_rules_ = true;  // jobs leave nodes that failed them
    } else {
      failure_rate_ = law->rate();
      drawn = DrawNodeEvents(*law, nodes, horizon, options_.seed);
    }
  }
  checkpoint_rule_ = MakeCheckpointRule(options_.checkpoints);
  PlanLending(horizon);
  std::merge(options_.node_events.begin(), options_.node_events.end(), drawn.begin(), drawn.end(),
             std::back_inserter(node_events_),
             [](const NodeEvent& a, const NodeEvent& b) { return a.time < b.time; });
  if (options_.rules == nullptr) return;
  const auto planned = EventsOf(WindowsOf(*options_.rules, workload_, nodes));
  const auto middle = node_events_.insert(node_events_.end(), planned.begin(), planned.end());
  std::inplace_merge(node_events_.begin(), middle, node_events_.end(),
                     [](const NodeEvent& a, const NodeEvent& b) { return a.time < b.time; });
}

}  // namespace allot
