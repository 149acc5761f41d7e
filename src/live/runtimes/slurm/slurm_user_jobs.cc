#include "live/runtimes/slurm/slurm_user_jobs.h"

#include <optional>
#include <string>
#include <utility>

#include "clients/slurm/resources.h"
#include "clients/slurm/value_text.h"
#include "core/error.h"
#include "core/wall_clock.h"
#include "live/runtimes/slurm/array_tasks.h"
#include "live/runtimes/slurm/job_request.h"

namespace allot {
namespace {

constexpr std::uint32_t kLongestTimeLimit = 0x7fffffff;  // minutes; more is none

JobState EndOf(SlurmState state) {
  return state == SlurmState::kCompleted   ? JobState::kFinished
         : state == SlurmState::kCancelled ? JobState::kCancelled
                                           : JobState::kFailed;
}

// Of a worker with one GPU, or of the job on each of its nodes.
MemoryNeed AskedMemory(const SlurmJob& slurm, ResizeMode mode) {
  const std::uint64_t asked = slurm.memory & ~kMemoryPerCpu;
  if ((slurm.memory & kMemoryPerCpu) == 0) return {.mib = asked};
  const std::uint64_t cpus = mode == ResizeMode::kHot
                                 ? std::max<std::uint16_t>(1, slurm.cpus_per_task)
                                 : slurm.cpus_per_node;
  return {.mib = asked * cpus};
}

// Who it is, and what Slurm's own fields say of it.
RuntimeJob Described(const SlurmJob& slurm, const std::string& id, bool slurm_priority) {
  RuntimeJob job;
  job.id = id;
  job.user = slurm.user;
  if (!slurm.account.empty()) job.account = slurm.account;
  job.name = slurm.name;
  job.known_as = slurm.known_as();
  job.submit = SubmitTimeOf(id);
  job.comment = slurm.comment;
  job.priority = slurm_priority ? slurm.priority : -slurm.nice;
  if (slurm.deadline > 0) job.deadline = static_cast<double>(slurm.deadline);
  if (slurm.time_limit < kLongestTimeLimit) job.time_limit = 60.0 * slurm.time_limit;
  return job;
}

}  // namespace

SlurmUserJobs::SlurmUserJobs(const SlurmOptions& options, const Slurm& slurm)
    : options_(options), slurm_(slurm), limits_(options.partition) {}

SlurmUserJob* SlurmUserJobs::Find(const std::string& job) {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? nullptr : &found->second;
}

void SlurmUserJobs::Begin(const SlurmSnapshot& snapshot, JobNodes nodes, SlurmMemory memory) {
  ++look_;
  if (std::exchange(memory_, memory) != memory) by_number_.clear();  // all are read again
  nodes_ = std::move(nodes);
  beyond_limit_ = TasksBeyondLimit(snapshot.jobs, options_.queue);
  arrays_.clear();
  more_ = 0;
  std::vector<NodeKind> kinds = nodes_->Kinds();
  if (limits_.Read(snapshot) || kinds != kinds_) by_number_.clear();  // all are read again
  kinds_ = std::move(kinds);
}

void SlurmUserJobs::End(const SlurmSnapshot& snapshot) {
  std::erase_if(by_number_, [this](const auto& entry) { return entry.second->look != look_; });
  std::erase_if(jobs_, [this](const auto& entry) { return entry.second.look != look_; });
  std::erase_if(failures_, [this](const auto& entry) { return !jobs_.contains(entry.first); });
  nodes_.reset();
  // Some tasks become jobs of their own, ahead of decisions about them.
  for (auto& [array, tasks] : TasksToSplit(snapshot.jobs, arrays_)) {
    slurm_.chores.Add(SlurmChore::kSplit, array, [this, tasks = std::move(tasks)] {
      return slurm_.client.Split(tasks, options_.queue);
    });
  }
}

SlurmUserJob* SlurmUserJobs::AsBefore(const std::shared_ptr<const SlurmJob>& record) {
  const auto known = by_number_.find(record->id);
  if (known == by_number_.end() || known->second->slurm != record) return nullptr;
  SlurmUserJob& job = *known->second;
  const bool waits = !job.tagged && !job.tag.failed && record->state == SlurmState::kPending;
  const bool alone =
      record->at_most == 0;  // otherwise the record is about other tasks of its array
  return waits && alone && job.noted ? &job : nullptr;
}

void SlurmUserJobs::Read(const std::shared_ptr<const SlurmJob>& record) {
  if (SlurmUserJob* same = AsBefore(record)) {
    same->look = look_;
    return;
  }
  const std::optional<JobTag> tag = ParseJobTag(record->admin_comment);
  const std::shared_ptr<const SlurmJob> asked = tag ? AsAsked(record, *tag) : record;
  const SlurmJob& slurm = *asked;
  if (!tag && slurm.partition != options_.queue) return;  // somebody else's
  if (!tag && slurm.state == SlurmState::kPending && WantsNoGpus(slurm)) {
    LeaveToSlurm(slurm);
    return;
  }
  SlurmUserJob user_job;
  user_job.slurm = asked;
  user_job.look = look_;
  user_job.placed = slurm.partition != options_.queue;
  user_job.tagged = tag.has_value();
  user_job.tag = tag.value_or(JobTag{.job = JobName(slurm.known_as(), slurm.submit)});
  RuntimeJob job = Described(slurm, user_job.tag.job, options_.slurm_priority);
  try {
    ReadWhatItMayHave(user_job, &job);
    if (!slurm.tasks.empty()) {  // its tasks will be jobs of their own
      arrays_.push_back(record);
      const auto tasks = ParseArrayTasks(slurm.tasks);
      more_ += tasks ? tasks->size() : 0;
      return;
    }
    if (!user_job.tagged && slurm.state == SlurmState::kPending) {
      user_job.noted = slurm_.notes.ShowExplanation(job.id, slurm);
    }
  } catch (const Error& error) {
    NotUnderstood(error.what(), &user_job, &job);
  }
  if (user_job.tagged) slurm_.notes.ShowExplanation(slurm, &user_job.tag);
  ReadState(user_job, &job);
  user_job.job = std::make_shared<const RuntimeJob>(std::move(job));
  const auto known = jobs_.insert_or_assign(user_job.job->id, std::move(user_job)).first;
  by_number_[slurm.id] = &known->second;
}

// Slurm's own scheduler places a job without GPUs.
void SlurmUserJobs::LeaveToSlurm(const SlurmJob& slurm) {
  slurm_.chores.Add(SlurmChore::kLeaveToSlurm, slurm.id, [this, id = slurm.id] {
    const bool own = !options_.cpu_partition.empty();
    return slurm_.client.Change(
        {.id = id, .partition = own ? options_.cpu_partition : options_.partition});
  });
}

// And whether it is to wait for it. DataError, for its user, where it may have nothing.
void SlurmUserJobs::ReadWhatItMayHave(const SlurmUserJob& user_job, RuntimeJob* job) {
  const SlurmJob& slurm = *user_job.slurm;
  ReadRequest(slurm, job);
  nodes_->Narrow(slurm, job);
  limits_.Limit(slurm, job);
  job->even = job->mode == ResizeMode::kRestart;  // --gres is of each node
  job->memory = MemoryOf(slurm, job->mode);
  job->settling = IsSettling(user_job.tag, WallSeconds());
  if (!user_job.tagged) {
    CheckType(*job, slurm);
    if (job->at_most && job->min_gpus > job->at_most->gpus) {
      throw DataError("a job of at least {} GPUs is more than one may have: {} ({})", job->min_gpus,
                      job->at_most->gpus, job->at_most->by);
    }
  }
  if (!slurm.waits.empty() && slurm.state == SlurmState::kPending && !user_job.tagged) {
    job->state = JobState::kHeld;
    job->reason = slurm.waits;
  } else if (beyond_limit_.contains(slurm.id)) {
    job->state = JobState::kHeld;
    job->reason = fmt::format("its array may run {} at a time", slurm.at_most);
  }
}

// What Slurm will allocate. The site's default is not known here, nor a worker's part of its node.
MemoryNeed SlurmUserJobs::MemoryOf(const SlurmJob& slurm, ResizeMode mode) const {
  if (memory_ == SlurmMemory::kNotCounted) return {};
  const MemoryNeed asked = AskedMemory(slurm, mode);
  const bool all = memory_ == SlurmMemory::kWholeByNone && mode == ResizeMode::kRestart;
  return {.mib = asked.mib, .whole_node = asked.mib == 0 && all};
}

// A job that runs itself on GPUs of no type (ADR 36) cannot be given those of one type of a node
// that has several.
void SlurmUserJobs::CheckType(const RuntimeJob& job, const SlurmJob& slurm) const {
  if (job.mode == ResizeMode::kHot) return;
  const std::vector<SlurmGpuType> asked = GpuTypesOfGres(slurm.gpus);
  if (!asked.empty() && !asked.front().name.empty()) return;
  for (const auto& [name, part] : slurm_.nodes.parts()) {
    if (part.whole) continue;
    throw DataError(
        "a job that is not elastic must name the type of its GPUs here (--gres=gpu:TYPE:{}), as "
        "node {} has several, got '{}'",
        job.requested, part.node, slurm.gpus);
  }
}

// It waits until its user has put it right. What runs already was understood when it began.
void SlurmUserJobs::NotUnderstood(const std::string& why, SlurmUserJob* user_job, RuntimeJob* job) {
  job->reason = why;
  job->min_gpus = job->max_gpus = job->requested = 1;
  if (user_job->slurm->state == SlurmState::kPending) {
    job->state = JobState::kHeld;
    user_job->noted = slurm_.notes.NotPlaced(*user_job->slurm, why);
  } else if (!user_job->tag.shares.empty()) {
    job->mode = ResizeMode::kRestart;
    job->preempt = false;
  }
}

// Whether it is on hold, or over.
void SlurmUserJobs::ReadState(const SlurmUserJob& user_job, RuntimeJob* job) const {
  const SlurmJob& slurm = *user_job.slurm;
  const auto set = [job](JobState state, const std::string& reason) {
    job->state = state;
    job->reason = reason;
  };
  if (slurm.on_hold && !user_job.tag.stopping) {
    set(JobState::kHeld, "held by its user or an administrator");
  }
  // The script of an elastic job has no GPUs to wait for, as it may for half a minute (KillWait).
  const bool over = slurm.over() || (slurm.ended && job->mode == ResizeMode::kHot);
  const auto failure = failures_.find(job->id);
  if (slurm_.hub.finished(job->id)) {
    job->state = JobState::kFinished;
  } else if (failure != failures_.end()) {
    set(JobState::kFailed, failure->second);
  } else if (user_job.tag.failed) {
    const std::string& why = user_job.tag.why;
    set(JobState::kFailed, why.empty() ? "given up by an earlier daemon" : why);
  } else if (over) {
    set(EndOf(slurm.state), slurm.reason);
  } else if (slurm.completing && job->reason.empty()) {
    job->reason = "its nodes clean up after its last run";
  }
}

}  // namespace allot
