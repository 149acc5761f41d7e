#include "live/job_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/error.h"
#include "core/index.h"
#include "core/strings.h"

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

}  // namespace

JobTable::JobTable(Options options) : options_(std::move(options)), rates_(*options_.catalogue) {}

LiveJob* JobTable::Find(const std::string& id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

LiveJob& JobTable::Add(std::shared_ptr<const RuntimeJob> record, Seconds submit, Seconds deadline) {
  const RuntimeJob& asked = *record;
  ALLOT_CHECK(Find(asked.id) == nullptr);
  auto job = std::make_unique<LiveJob>();
  job->asked = std::move(record);
  job->index = next_index_++;
  job->submit = last_submit_ = std::max(submit, last_submit_);
  job->deadline = deadline;
  job->tenant =
      tenants_.emplace(asked.user, static_cast<std::int32_t>(tenants_.size())).first->second;
  job->user = users_.Intern(asked.user);
  job->alike = groups_.Intern(asked.model);
  job->waiting_since = job->submit;
  job->record.job = job->index;
  job->record.submit = job->submit;
  job->fit = rates_.Begin(asked.model, asked.user);
  if (options_.rules != nullptr) {
    job->rules = options_.rules->Of(asked.account.empty() ? asked.user : asked.account, asked.user);
  }
  job->rules.cooldown =
      std::max(job->rules.cooldown, std::min(asked.cooldown, job->rules.own_cooldown));
  WorkerGroupOptions group = options_.worker_group;
  group.leave_grace = asked.grace > 0 ? asked.grace : job->rules.grace.value_or(group.leave_grace);
  job->worker_group = WorkerGroup(asked.id, asked.mode, group);
  MakeTable(*job);
  by_id_[asked.id] = job.get();
  active_.push_back(job.get());
  jobs_.emplace_hint(jobs_.end(), job->index, std::move(job));
  return *active_.back();
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

void JobTable::Retire(LiveJob& job) {
  if (std::erase(active_, &job) > 0) ended_.push_back(job.index);
  job.table.reset();
  job.fit = RateFit(nullptr);
  job.training.reset();
}

void JobTable::ForgetOldest() {
  for (; ended_.size() > options_.keep_ended; ended_.pop_front()) {
    const auto oldest = jobs_.find(ended_.front());
    by_id_.erase(oldest->second->asked->id);
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

void JobTable::Resume(LiveJob& job, RateFit fit, const std::string& configuration,
                      std::span<const NodeShare> shares) {
  job.fit = fit.AsUsed();
  MakeTable(job);
  if (!configuration.empty()) {
    std::int32_t running = FindGiven(job, configuration, GpusOf(shares));
    if (running < 0) {  // it held what its latest table has not (Follow)
      job.fit = rates_.Prior(job.asked->model);
      std::unique_ptr<TrainingEstimate> training = std::move(job.training);
      MakeTable(job);
      job.training = std::move(training);
      running = FindGiven(job, configuration, GpusOf(shares));
    }
    if (running < 0) {
      throw DataError("job '{}' holds '{}', which is none of its configurations", job.asked->id,
                      configuration);
    }
    Place(job, running, shares);
  }
  job.fit = std::move(fit);
}

void JobTable::Give(LiveJob& job, std::int32_t configuration, std::span<const NodeShare> shares,
                    Seconds now) {
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
}

void JobTable::Place(LiveJob& job, std::int32_t configuration, std::span<const NodeShare> shares) {
  job.running = configuration;
  job.shares.assign(shares.begin(), shares.end());
  job.worker_group.SetTarget(job.shares);
}

void JobTable::Take(LiveJob& job, Seconds now) {
  if (job.running >= 0) ++job.record.preemptions;
  job.running = -1;
  job.shares.clear();
  job.worker_group.SetTarget({});
  job.waiting_since = now;
}

void JobTable::End(LiveJob& job, Seconds finish) {
  job.over = true;
  job.running = -1;
  job.shares.clear();
  job.worker_group.SetTarget({});
  job.worker_group.SetOver();
  if (job.record.finish == kNever && finish != kNever) ++finished_;
  job.record.finish = finish;
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

void JobTable::Observe(const std::function<bool(const LiveJob&)>& hidden, Observation* o) const {
  o->ClearJobs();
  o->user_names = &users_.names();
  o->group_names = &groups_.names();
  for (const LiveJob* job : active_) {
    if (hidden(*job)) continue;
    const double total =
        !std::isnan(job->progress.total_work) ? job->progress.total_work : job->asked->total_work;
    o->Append({.job = job->index,
               .submit = job->submit,
               .table = job->table.get(),
               .requested = job->requested,
               .running = job->running,
               .done_work = job->progress.work,
               .estimated_work = total,
               .attained_gpu_seconds = job->attained_gpu_seconds,
               .attained_seconds = job->attained_seconds,
               .restart_cost = job->asked->mode == ResizeMode::kHot ? options_.restart_cost
                                                                    : options_.cold_restart_cost,
               .changes = job->changes,
               .waiting_since = job->waiting_since,
               .priority = job->asked->priority,
               .deadline = job->deadline,
               .tenant = job->tenant,
               .user = job->user,
               .group = job->alike},
              job->shares);
  }
}

void JobTable::TellEnd(EndedJob* ended) const {
  const LiveJob& job = *jobs_.at(ended->job);
  ended->end = job.ended;
  if (!std::isnan(job.run_time)) ended->work = job.run_time * ended->requested_rate;
  ended->gpu_seconds = job.attained_gpu_seconds;
  ended->held_seconds = job.attained_seconds;
}

void JobTable::FindEvents(Observation* o) {
  finder_.Find(o);
  Events& events = o->events;
  for (auto fixed = fixed_.begin(); fixed != fixed_.end();) {
    const LiveJob& job = *jobs_.at(fixed->first);
    if (job.over) events.ended.push_back(fixed->second);
    fixed = job.fixed() ? std::next(fixed) : fixed_.erase(fixed);
  }
  std::erase_if(events.ended, [&](EndedJob& ended) {
    const LiveJob& job = *jobs_.at(ended.job);
    if (!job.over) {  // fixed, held by its user, or without room: it may come back
      if (job.fixed()) fixed_.insert_or_assign(ended.job, ended);
      return true;
    }
    TellEnd(&ended);
    return false;
  });
  events.table_changed.clear();  // another table may be at the same address
  for (std::int32_t row = 0; row < o->rows(); ++row) {
    LiveJob& job = *jobs_.at(o->job[At(row)]);
    if (job.table_is_new) events.table_changed.push_back(row);
    job.table_is_new = false;
  }
  ForgetOldest();
}

}  // namespace allot
