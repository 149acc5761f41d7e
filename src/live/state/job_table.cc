#include "live/state/job_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "cluster/topology.h"
#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"
#include "perf/placed_model.h"

namespace allot {
namespace {

GpuCount GpusOf(std::span<const NodeShare> shares) {
  GpuCount gpus = 0;
  for (const NodeShare& share : shares) gpus += std::popcount(share.gpus);
  return gpus;
}

NodeShare ShareOf(NodeIndex node, std::uint64_t gpus) {
  return {node, UnitCounts(std::popcount(gpus)), gpus};
}

// Jobs of one user only: nobody's numbers decide about others.
std::string TrainingKey(const RuntimeJob& job, const BatchLimits& limits) {
  return job.user + '\n' + job.model +
         fmt::format("\n{} {} {} {}", limits.initial, limits.most, limits.least_local,
                     limits.most_local);
}

// Of a restart: the training state is written where the job runs, and read where it is to run.
Seconds StateSecondsOf(const LiveJob& job) {
  if (job.running < 0) return (*job.table)[job.requested].state_seconds;
  return 2 * (*job.table)[job.running].state_seconds;
}

Communication CommunicationOf(const LiveJob& job) {
  return {.share = static_cast<float>(job.asked->comm_share)};
}

// Tables show the rates of the best place. What others on the same uplinks cost is not known.
double SlowdownOf(const LiveJob& job, const Topology* topology) {
  if (topology == nullptr) return 1;
  const GpuTypeIndex type = (*job.table)[job.running].gpu_type;
  const PlaceFactors place{.level =
                               topology->LevelFactor(type, job.shares, job.table->has_spans())};
  return SlowdownAt(place, CommunicationOf(job));
}

TrainingEstimate TrainingOf(const record::Training& r) {
  TrainingEstimate training(r.limits);
  for (const TimingFits::SeenTiming& seen : r.timed) {
    training.Observe(seen.gpu_type, seen.nodes, seen.observation);
  }
  training.SetNoise(r.noise);
  return training;
}

}  // namespace

JobTable::JobTable(Options options)
    : options_(std::move(options)),
      rates_(*options_.catalogue),
      usage_(options_.rules != nullptr && options_.rules->fair_share()
                 ? options_.rules->fair_share()->half_life
                 : FairShareRule().half_life) {}

const LiveJob* JobTable::Find(const std::string& id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

const LiveJob& JobTable::Add(std::shared_ptr<const RuntimeJob> record, Seconds submit,
                             Seconds deadline) {
  const RuntimeJob& asked = *record;
  ALLOT_CHECK(Find(asked.id) == nullptr);
  const JobIndex index = next_index_++;
  LiveJob& job = jobs_.try_emplace(jobs_.end(), index)->second;
  job.asked = std::move(record);
  job.index = index;
  job.submit = last_submit_ = std::max(submit, last_submit_);
  job.deadline = deadline;
  job.tenant =
      tenants_.emplace(asked.user, static_cast<std::int32_t>(tenants_.size())).first->second;
  job.submitter = SubmitterOf(asked.free_account ? asked.user : asked.payer(), asked.user);
  job.user = job.submitter.user;
  job.alike = groups_.Intern(asked.model);
  job.waiting_since = job.submit;
  job.record.job = job.index;
  job.record.submit = job.submit;
  job.fit = rates_.Begin(asked.model, asked.user);
  job.rules = RulesOf(asked);
  WorkerGroupOptions group = options_.worker_group;
  group.leave_grace = asked.grace > 0 ? asked.grace : job.rules.grace.value_or(group.leave_grace);
  job.worker_group = WorkerGroup(asked.id, asked.mode, group);
  MakeTable(job);
  by_id_[asked.id] = &job;
  active_.push_back(&job);
  return job;
}

std::string JobTable::IdOf(const std::string& name) const {
  std::vector<std::string> names, found;
  for (const LiveJob* job : active_) {
    if (job->asked->id == name) return name;
    names.push_back(job->asked->shown());
    if (job->asked->shown() == name && !job->over) found.push_back(job->asked->id);
  }
  if (found.empty()) {
    throw UsageError("no job '{}' that waits or runs{}", name, DidYouMean(name, names));
  }
  if (found.size() > 1) {
    throw UsageError("'{}' must be one job, is {}: give one of {}", name, found.size(),
                     fmt::join(found, ", "));
  }
  return found.front();
}

void JobTable::Retire(const LiveJob& of) {
  LiveJob& job = Mine(of);
  if (std::erase(active_, &of) > 0) ended_.push_back(job.index);
  job.table.reset();
  job.fit = RateFit(nullptr);
  job.training.reset();
}

void JobTable::ForgetOldest() {
  for (; ended_.size() > options_.keep_ended; ended_.pop_front()) {
    const auto oldest = jobs_.find(ended_.front());
    by_id_.erase(oldest->second.asked->id);
    jobs_.erase(oldest);
  }
}

void JobTable::ForgetRetired(const std::string& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  const JobIndex index = found->second->index;
  if (std::erase(ended_, index) == 0) return;
  by_id_.erase(found);
  jobs_.erase(index);
}

void JobTable::Count(std::int64_t finished, Seconds last_submit) {
  finished_ = finished;
  last_submit_ = std::max(last_submit_, last_submit);
}

RateFit JobTable::FitOf(const record::Fit& points, const std::string& model) const {
  RateFit fit = rates_.Prior(model);
  for (const RateFit::PlacedPoint& point : points) fit.PutPoint(point);
  return fit;
}

void JobTable::LearnRates(const std::string& user, const std::string& model,
                          const record::Fit& fit) {
  rates_.Learn(model, user, FitOf(fit, model));
}

void JobTable::LearnTraining(const std::string& key, const record::Training& training) {
  latest_training_.insert_or_assign(key, TrainingOf(training));
}

Submitter JobTable::SubmitterOf(const std::string& account, const std::string& user) {
  return {accounts_.Intern(account), users_.Intern(user)};
}

void JobTable::LearnUsage(const record::LearnedUsage& learned, Seconds now) {
  usage_.Add(SubmitterOf(learned.account, learned.user), learned.gpu_seconds, now);
}

record::LearnedUsage JobTable::UsageOf(Submitter submitter, Seconds now) const {
  return {accounts_[submitter.account], users_[submitter.user], usage_.Of(submitter, now)};
}

void JobTable::LearnWork(const record::LearnedWork& learned, Seconds now) {
  stated_work_.Add(users_.Intern(learned.user), {learned.stated, learned.needed}, now);
}

std::vector<std::pair<Seconds, record::LearnedWork>> JobTable::StatedWorkOfUsers() const {
  std::vector<std::pair<Seconds, record::LearnedWork>> all;
  stated_work_.ForEachUser([&](std::int32_t user, Seconds at) {
    const StatedWork::Sums sums = stated_work_.Of(user, at);
    all.emplace_back(at, record::LearnedWork{users_[user], sums.stated, sums.needed});
  });
  return all;
}

// Of a job whose user states its work, and that has run.
std::optional<StatedWork::Sums> JobTable::WorkOf(const LiveJob& job, Seconds run_time) const {
  if (job.table == nullptr || !(job.asked->total_work > 0) || !(run_time > 0)) return std::nullopt;
  const Configuration& requested = (*job.table)[job.requested];
  const GpuCount gpus = requested.demand.gpus;
  return StatedWork::Sums{gpus * job.asked->total_work / requested.rate, gpus * run_time};
}

void JobTable::CountWork(const LiveJob& of, bool finished, Seconds run_time, Seconds now) {
  const auto work = WorkOf(of, run_time);
  if (work && (finished || work->needed > work->stated)) stated_work_.Add(of.user, *work, now);
}

void JobTable::Resume(const LiveJob& of, const record::Kept& kept,
                      std::span<const NodeShare> shares, WorkerGroupPast group) {
  LiveJob& job = Mine(of);
  if (kept.training) job.training = std::make_unique<TrainingEstimate>(TrainingOf(*kept.training));
  RateFit fit = FitOf(kept.fit, job.asked->model);
  job.fit = fit.AsUsed();
  MakeTable(job);
  if (const auto& configuration = kept.allocated.configuration) {
    std::int32_t running = FindGiven(job, *configuration, GpusOf(shares));
    if (running < 0) {  // its latest table does not have it (KeepRunning)
      job.fit = rates_.Prior(job.asked->model);
      std::unique_ptr<TrainingEstimate> training = std::move(job.training);
      MakeTable(job);
      job.training = std::move(training);
      running = FindGiven(job, *configuration, GpusOf(shares));
    }
    if (running < 0) {
      throw DataError("job '{}' holds '{}', which is none of its configurations", job.asked->id,
                      *configuration);
    }
    Place(job, running, shares);
    job.plan = kept.allocated.plan;
  }
  job.fit = std::move(fit);
  job.changes = kept.changes;
  if (kept.history) {
    job.history = ChangeHistory::Of(kept.history->last, kept.history->restarts, kept.history->lost);
  }
  job.waiting_since = kept.waiting_since;
  job.attained_gpu_seconds = job.record.gpu_seconds = kept.gpu_seconds;
  job.attained_seconds = kept.seconds;
  job.record.first_start = kept.first_start;
  job.record.preemptions = kept.preemptions;
  job.record.restarts = kept.restarts;
  job.record.moves = kept.moves;
  job.record.failures = kept.failures;
  job.worker_group.SetPast(std::move(group));
}

void JobTable::Give(const LiveJob& of, std::int32_t configuration,
                    std::span<const NodeShare> shares, Seconds now, bool lost,
                    std::optional<std::string> plan) {
  LiveJob& job = Mine(of);
  job.plan = std::move(plan);
  job.history.Given(now, job.changes == 0);
  if (job.changes++ == 0) {
    job.record.first_start = now;
  } else {
    ++job.record.restarts;
    if (job.running == configuration) ++job.record.moves;
  }
  Place(job, configuration, shares);
  job.waiting_since = now;
  const GpuCount given = GpusOf(shares);
  if (std::erase_if(job.tolerated, [given](GpuCount gpus) { return gpus != given; }) > 0) {
    MakeTable(job);
  }
  if (lost) job.history.Lost();
}

void JobTable::Place(const LiveJob& of, std::int32_t configuration,
                     std::span<const NodeShare> shares) {
  LiveJob& job = Mine(of);
  job.running = configuration;
  job.shares.assign(shares.begin(), shares.end());
  job.worker_group.SetTarget(job.shares);
}

void JobTable::Take(const LiveJob& of, Seconds now) {
  LiveJob& job = Mine(of);
  if (job.running >= 0) ++job.record.preemptions;
  job.running = -1;
  job.shares.clear();
  job.plan.reset();
  job.worker_group.SetTarget({});
  job.waiting_since = now;
}

void JobTable::SetService(const LiveJob& of, double gpu_seconds, Seconds seconds, Seconds now) {
  LiveJob& job = Mine(of);
  SetAttained(job, gpu_seconds, now);
  job.attained_seconds = seconds;
}

void JobTable::SetAttained(LiveJob& job, double gpu_seconds, Seconds now) {
  const double more = gpu_seconds - std::exchange(job.attained_gpu_seconds, gpu_seconds);
  if (more > 0) usage_.Add(job.submitter, more, now);
}

void JobTable::End(const LiveJob& of, JobState state, Seconds now, Seconds run_time) {
  LiveJob& job = Mine(of);
  if (job.asked->state != state) {
    auto ended = std::make_shared<RuntimeJob>(*job.asked);
    ended->state = state;
    job.asked = std::move(ended);
  }
  job.over = true;
  job.ended = now;
  job.run_time = run_time;
  job.running = -1;
  job.shares.clear();
  job.plan.reset();
  job.worker_group.SetTarget({});
  job.worker_group.SetOver();
  const Seconds finish = state == JobState::kFinished ? now : kNever;
  if (job.record.finish == kNever && finish != kNever) ++finished_;
  job.record.finish = finish;
}

void JobTable::SetMost(const LiveJob& of, std::optional<GpuCount> most) {
  LiveJob& job = Mine(of);
  if (most >= job.asked->max_gpus) most.reset();
  if (std::exchange(job.most, most) != most) MakeTable(job);
}

Seconds JobTable::RunTime(const LiveJob& job) const {
  if (job.table != nullptr && job.fit.measured() && job.progress.work > 0) {
    return job.progress.work / (*job.table)[job.requested].rate;
  }
  return job.attained_gpu_seconds / job.asked->requested;
}

std::vector<NodeShare> JobTable::SharesOn(const LiveJob& job, const HeldGpus& usable) const {
  std::vector<NodeShare> kept;
  bool all = true;
  for (const NodeShare& share : job.shares) {
    const std::uint64_t gpus = share.gpus & usable[At(share.node)];
    all = all && gpus == share.gpus;
    if (gpus != 0) kept.push_back(gpus == share.gpus ? share : ShareOf(share.node, gpus));
  }
  if (all) return kept;
  const GpuTypeIndex type = (*job.table)[job.running].gpu_type;
  for (GpuCount gpus = GpusOf(kept); gpus > 0; --gpus) {
    if (job.table->Find(UnitCounts(gpus), type, kept.size()) >= 0) return kept;
    NodeShare& last = kept.back();  // one GPU less
    last = ShareOf(last.node, last.gpus & (last.gpus - 1));
    if (last.gpus == 0) kept.pop_back();
  }
  return {};
}

void JobTable::Observe(Observation* o) const {
  o->ClearJobs();
  o->user_names = &users_.names();
  o->group_names = &groups_.names();
  std::map<std::int32_t, StatedWork::Sums> running;  // by user: jobs that needed more than stated
  for (const LiveJob* job : active_) {
    const auto work = job->over ? std::nullopt : WorkOf(*job, RunTime(*job));
    if (!work || work->needed <= work->stated) continue;
    running[job->user].stated += work->stated;
    running[job->user].needed += work->needed;
  }
  for (const LiveJob* job : active_) {
    if (!IsObserved(*job)) continue;
    double total = job->progress.total_work;
    if (std::isnan(total) && !std::isnan(job->asked->total_work)) {
      const auto of_user = running.find(job->user);
      const StatedWork::Sums more = of_user == running.end() ? StatedWork::Sums{} : of_user->second;
      total = job->asked->total_work * stated_work_.FactorOf(job->user, more, o->now);
    }
    o->Append({.job = job->index,
               .submit = job->submit,
               .table = job->table.get(),
               .requested = job->requested,
               .running = job->running,
               .done_work = job->progress.work,
               .estimated_work = total,
               .attained_gpu_seconds = job->attained_gpu_seconds,
               .attained_seconds = job->attained_seconds,
               .restart_cost = job->asked->mode == ResizeMode::kHot
                                   ? options_.restart_cost
                                   : options_.cold_restart_cost + StateSecondsOf(*job),
               .changes = job->changes,
               .waiting_since = job->waiting_since,
               .priority = job->asked->priority,
               .deadline = job->deadline,
               .tenant = job->tenant,
               .user = job->user,
               .group = job->alike},
              job->shares);
    if (nominal_.topology() != nullptr) o->places.push_back({CommunicationOf(*job)});
  }
}

void JobTable::TellEnd(const LiveJob& job, EndedJob* ended) {
  ended->end = job.ended;
  if (!std::isnan(job.run_time)) ended->work = job.run_time * ended->requested_rate;
  ended->gpu_seconds = job.attained_gpu_seconds;
  ended->held_seconds = job.attained_seconds;
}

void JobTable::FindEvents(Observation* o) {
  finder_.Find(o);
  Events& events = o->events;
  std::erase_if(events.ended, [this](EndedJob& ended) {
    const auto job = jobs_.find(ended.job);
    if (job == jobs_.end()) return true;  // its user has asked for it anew
    TellEnd(job->second, &ended);
    return false;
  });
  events.table_changed.clear();  // another table may be at the same address
  for (std::int32_t row = 0; row < o->rows(); ++row) {
    LiveJob& job = jobs_.at(o->job[At(row)]);
    if (job.table_is_new) events.table_changed.push_back(row);
    job.table_is_new = false;
  }
  ForgetOldest();
}

void JobTable::SetCluster(const ClusterSpec& nominal) {
  nominal_ = nominal;
  tables_ = std::make_unique<TableCache>(rates_.priors(), nominal_.type_specs());
  for (const LiveJob* job : active_) MakeTable(Mine(*job));
}

// A user's own cooldown may be longer than the operator's, up to a limit, never shorter.
JobRules JobTable::RulesOf(const RuntimeJob& asked) const {
  JobRules rules;
  if (options_.rules != nullptr) rules = options_.rules->RulesFor(asked.payer(), asked.user);
  rules.cooldown = std::max(rules.cooldown, std::min(asked.cooldown, rules.own_cooldown));
  return rules;
}

void JobTable::SetRules(std::shared_ptr<const OperatorRules> rules) {
  options_.rules = std::move(rules);
  if (options_.rules != nullptr && options_.rules->fair_share()) {
    usage_.SetHalfLife(options_.rules->fair_share()->half_life);
  }
  for (const LiveJob* of : active_) {
    LiveJob& job = Mine(*of);
    job.rules = RulesOf(*job.asked);
    if (job.running >= 0) job.tolerated.push_back(job.given());
    MakeTable(job);
  }
}

void JobTable::ShiftTimes(Seconds end, Seconds by, Seconds now) {
  const auto shift = [&](Seconds* time) {
    if (*time < end) *time = std::min(*time + by, now);
  };
  Seconds previous = -kNever;
  for (auto& [index, job] : jobs_) {
    if (job.submit < end) job.deadline += by;
    shift(&job.submit);
    job.submit = previous = std::max(previous, job.submit);  // they rise with the index
    job.record.submit = job.submit;
    shift(&job.waiting_since);
    shift(&job.record.first_start);
    shift(&job.ended);
  }
  shift(&last_submit_);
  last_submit_ = std::max(last_submit_, previous);
}

// A user's own rule may leave out more than the operator's, never less.
SizeRule JobTable::SizesOf(const LiveJob& job) const {
  SizeRule sizes = job.rules.sizes;
  if (job.asked->sizes) sizes = sizes.And(SizeRule::Parse(*job.asked->sizes, "sizes"));
  return job.tolerated.empty() ? sizes : sizes.Also(job.tolerated);
}

std::int32_t JobTable::FindGiven(const LiveJob& of, const std::string& key, GpuCount gpus) {
  LiveJob& job = Mine(of);
  const auto find = [&] {
    const bool has = job.fits() && job.table != nullptr;
    return has ? job.table->FindText(key, nominal_.types()) : -1;
  };
  const std::int32_t known = find();
  if (known >= 0 || job.over) return known;
  job.tolerated.push_back(gpus);  // beside what it holds
  MakeTable(job);
  return find();
}

void JobTable::MakeTable(LiveJob& job) {
  Workload one;
  Job spec;
  spec.id = job.asked->shown();  // its user reads why it does not fit
  spec.min_gpus = job.asked->min_gpus;
  for (const GpuCount gpus : job.tolerated) spec.min_gpus = std::min(spec.min_gpus, gpus);
  spec.max_gpus = job.most_now();
  spec.gpus = std::min(job.asked->requested, spec.max_gpus);
  spec.gpu_types = one.gpu_types.Intern(job.asked->gpu_types);
  const std::shared_ptr<const ConfigurationTable> before = job.table;
  const std::int32_t requested_before = job.requested;
  if (MakeGoodputTable(job, one, spec)) {
    KeepRunning(job, before, requested_before);
    return;
  }
  Catalogue fitted;
  std::unique_ptr<TableCache> own;
  TableCache* tables = tables_.get();
  // Users' own sizes are of any number: what is kept of them goes with the job.
  if (job.asked->sizes && !job.fit.measured()) {
    own = std::make_unique<TableCache>(rates_.priors(), nominal_.type_specs());
    tables = own.get();
  }
  if (job.fit.measured()) {
    const ModelPtr model = job.fit.Model();
    fitted.Add(model);
    spec.model = one.models.Intern(model->name());
    own = std::make_unique<TableCache>(fitted, nominal_.type_specs());
    tables = own.get();
    job.fit.MarkUsed();
  } else {
    spec.model = one.models.Intern(rates_.PriorOf(job.asked->model)->name());
  }
  try {
    const SizeRule sizes = SizesOf(job);
    job.table = tables->TableFor(one, spec, sizes);
    job.requested = tables->RequestedOf(one, spec, sizes);
    job.unfit.reset();
  } catch (const Error& error) {  // of a type that the cluster has not, or larger than it
    job.unfit = error.what();
    return;
  }
  KeepRunning(job, before, requested_before);
}

// What the job holds is the same in its new table. Tables of goodput tell one node and several
// apart, where the one before may not have done so. A table without what the job holds waits until
// it holds something else.
void JobTable::KeepRunning(LiveJob& job, const std::shared_ptr<const ConfigurationTable>& before,
                           std::int32_t requested_before) {
  job.table_is_new = before != nullptr;
  if (job.running < 0) return;
  const Configuration& runs = (*before)[job.running];
  std::int32_t running = job.table->Find(runs.key());
  if (running < 0) running = job.table->Find(runs.units, runs.gpu_type, job.shares.size());
  if (running >= 0) {
    job.running = running;
    return;
  }
  job.table = before;
  job.requested = requested_before;
}

bool JobTable::MakeGoodputTable(LiveJob& job, const Workload& one, const Job& spec) {
  if (!job.training || !job.training->known()) return false;
  Workload named = one;
  Job shaped = spec;
  Catalogue layouts;
  const ModelPtr layout = LayoutModel(rates_.PriorOf(job.asked->model));
  layouts.Add(layout);
  shaped.model = named.models.Intern(layout->name());
  try {
    TableCache tables(layouts, nominal_.type_specs());
    const SizeRule sizes = SizesOf(job);
    auto made = std::make_shared<ConfigurationTable>(*tables.TableFor(named, shaped, sizes));
    const std::int32_t requested = tables.RequestedOf(named, shaped, sizes);
    if (!job.training->Renew(nominal_.types(), made.get())) return false;
    job.table = std::move(made);
    job.requested = requested;
  } catch (const Error&) {  // does not fit: the usual way says so
    return false;
  }
  job.unfit.reset();
  return true;
}

bool JobTable::Measure(const LiveJob& of, GpuCount gpus, const std::string& type, Span span,
                       double rate, Seconds seconds) {
  LiveJob& job = Mine(of);
  if (job.over) return false;
  if (!rates_.Measure(job.asked->model, gpus, type, span, rate, seconds, &job.fit, job.asked->user))
    return false;
  if (!job.training || !job.training->known()) MakeTable(job);  // else it is of other measurements
  return true;
}

void JobTable::SetLimits(const LiveJob& of, const BatchLimits& limits) {
  LiveJob& job = Mine(of);
  if (job.over || job.training) return;
  const auto latest = latest_training_.find(TrainingKey(*job.asked, limits));
  const bool known = !job.asked->model.empty() && latest != latest_training_.end();
  job.training =
      std::make_unique<TrainingEstimate>(known ? latest->second : TrainingEstimate(limits));
  job.training->SetNoise(kUnknown);  // gradients of a new job are others than of one that ended
}

void JobTable::SetNoise(const LiveJob& of, double noise) {
  LiveJob& job = Mine(of);
  if (job.over || !job.training) return;
  job.training->SetNoise(noise);
  Remember(job);
}

void JobTable::Timed(const LiveJob& of, const std::string& gpu_type, std::int32_t nodes,
                     const TimingObservation& observation) {
  LiveJob& job = Mine(of);
  if (job.over || !job.training) return;
  if (job.training->Observe(gpu_type, nodes, observation)) Remember(job);
}

void JobTable::Remember(LiveJob& job) {
  if (!job.training->known()) return;
  latest_training_.insert_or_assign(TrainingKey(*job.asked, job.training->limits()), *job.training);
  MakeTable(job);
}

std::string JobTable::ProfileOf(const std::string& model) const {
  return rates_.HasProfile(model) ? rates_.PriorOf(model)->name() : "";
}

bool JobTable::Update(const LiveJob& of, const JobProgress& progress, Seconds before, Seconds now) {
  LiveJob& job = Mine(of);
  GpuCount held = 0;
  for (const LiveWorker& worker : job.worker_group.workers()) held += std::popcount(worker.gpus);
  SetAttained(job, job.attained_gpu_seconds + held * (now - before), now);
  if (held > 0) job.attained_seconds += now - before;
  if (job.running >= 0) job.waiting_since = now;
  job.record.gpu_seconds = job.attained_gpu_seconds;

  const bool moved_on = progress.step > job.progress.step || progress.work > job.progress.work;
  job.progress = progress;
  if (!job.worker_group.training(progress) || job.running < 0) {
    job.stretch_since.reset();
    return false;
  }
  if (!job.stretch_since) {
    job.stretch_since = now;
    job.stretch_work = progress.work;
    return false;
  }
  const Configuration& configuration = (*job.table)[job.running];
  const std::string& type = nominal_.types()[At(configuration.gpu_type)];
  const Seconds stretch = now - *job.stretch_since;
  double rate = progress.rate;
  if (std::isnan(rate)) {
    if (stretch < RateBook::kShortestStretch) return false;
    rate = (progress.work - job.stretch_work) / stretch;
  } else if (!moved_on) {
    return false;
  }
  job.stretch_since = now;
  job.stretch_work = progress.work;
  return Measure(job, configuration.demand.gpus, type, configuration.span,
                 rate * SlowdownOf(job, nominal_.topology()), stretch);
}

}  // namespace allot
