// JobTable's configurations: the tables of jobs, and what is measured that they are made of.

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <utility>

#include "core/index.h"
#include "live/job_table.h"

namespace allot {
namespace {

// Jobs of one user only: nobody's numbers decide about others.
std::string TrainingKey(const RuntimeJob& job, const BatchLimits& limits) {
  return job.user + '\n' + job.model +
         fmt::format("\n{} {} {} {}", limits.initial, limits.most, limits.least_local,
                     limits.most_local);
}

}  // namespace

void JobTable::SetCluster(const ClusterSpec& nominal) {
  nominal_ = nominal;
  tables_ = std::make_unique<TableCache>(rates_.priors(), nominal_.type_specs());
  for (LiveJob* job : active_) MakeTable(*job);
}

// A user's own rule may leave out more than the operator's, never less.
SizeRule JobTable::SizesOf(const LiveJob& job) const {
  SizeRule sizes = job.rules.sizes;
  if (!job.asked->sizes.empty()) sizes = sizes.And(SizeRule::Parse(job.asked->sizes, "sizes"));
  return job.tolerated.empty() ? sizes : sizes.Also(job.tolerated);
}

std::int32_t JobTable::FindGiven(LiveJob& job, const std::string& key, GpuCount gpus) {
  const auto find = [&] {
    const bool has = job.fits && job.table != nullptr;
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
  spec.max_gpus = job.most_now();
  spec.gpus = std::min(job.asked->requested, spec.max_gpus);
  spec.gpu_types = one.gpu_types.Intern(job.asked->gpu_types);
  const std::shared_ptr<const ConfigurationTable> before = job.table;
  const std::int32_t requested_before = job.requested;
  if (MakeGoodputTable(job, one, spec)) {
    Follow(job, before, requested_before);
    return;
  }
  Catalogue fitted;
  std::unique_ptr<TableCache> own;
  TableCache* tables = tables_.get();
  // Users' own sizes are of any number: what is kept of them goes with the job.
  if (!job.asked->sizes.empty() && !job.fit.measured()) {
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
    job.fits = true;
    job.unfit.clear();
  } catch (const Error& error) {  // of a type that the cluster has not, or larger than it
    job.fits = false;
    job.unfit = error.what();
    return;
  }
  Follow(job, before, requested_before);
}

// What the job holds is the same in its new table. Tables of goodput tell one node and several
// apart, where the one before may not have done so. A table without what the job holds waits until
// it holds something else.
void JobTable::Follow(LiveJob& job, const std::shared_ptr<const ConfigurationTable>& before,
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
  job.fits = true;
  job.unfit.clear();
  return true;
}

bool JobTable::Measure(LiveJob& job, GpuCount gpus, const std::string& type, Span span, double rate,
                       Seconds seconds) {
  if (job.over) return false;
  if (!rates_.Measure(job.asked->model, gpus, type, span, rate, seconds, &job.fit, job.asked->user))
    return false;
  if (!job.training || !job.training->known()) MakeTable(job);  // else it is of other measurements
  return true;
}

void JobTable::SetLimits(LiveJob& job, const BatchLimits& limits) {
  if (job.over || job.training) return;
  const auto latest = latest_training_.find(TrainingKey(*job.asked, limits));
  const bool known = !job.asked->model.empty() && latest != latest_training_.end();
  job.training =
      std::make_unique<TrainingEstimate>(known ? latest->second : TrainingEstimate(limits));
  job.training->SetNoise(kUnknown);  // gradients of a new job are others than of one that ended
}

void JobTable::SetNoise(LiveJob& job, double noise) {
  if (job.over || !job.training) return;
  job.training->SetNoise(noise);
  Remember(job);
}

void JobTable::Timed(LiveJob& job, const std::string& gpu_type, std::int32_t nodes,
                     const TimingObservation& observation) {
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

bool JobTable::Update(LiveJob& job, const JobProgress& progress, Seconds before, Seconds now) {
  GpuCount held = 0;
  for (const LiveWorker& worker : job.worker_group.workers()) held += std::popcount(worker.gpus);
  job.attained_gpu_seconds += held * (now - before);
  if (held > 0) job.attained_seconds += now - before;
  if (job.running >= 0) job.waiting_since = now;
  job.record.gpu_seconds = job.attained_gpu_seconds;

  const bool moved_on = progress.step > job.progress.step || progress.work > job.progress.work;
  job.progress = progress;
  if (!job.worker_group.training(progress) || job.running < 0) {
    job.stretch_since = kNever;
    return false;
  }
  if (job.stretch_since == kNever) {
    job.stretch_since = now;
    job.stretch_work = progress.work;
    return false;
  }
  const Configuration& configuration = (*job.table)[job.running];
  const std::string& type = nominal_.types()[At(configuration.gpu_type)];
  const Seconds stretch = now - job.stretch_since;
  double rate = progress.rate;
  if (std::isnan(rate)) {
    if (stretch < RateBook::kShortestStretch) return false;
    rate = (progress.work - job.stretch_work) / stretch;
  } else if (!moved_on) {
    return false;
  }
  job.stretch_since = now;
  job.stretch_work = progress.work;
  return Measure(job, configuration.demand.gpus, type, configuration.span, rate, stretch);
}

}  // namespace allot
