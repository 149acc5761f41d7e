// The back end over libslurm: a thread of its own makes the calls, for each blocks nine seconds
// when the controller does not answer.

#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "clients/slurm/libslurm/libslurm_records.h"
#include "clients/slurm/shared_jobs.h"
#include "clients/slurm/slurm_module.h"
#include "clients/slurm/slurm_reservation.h"
#include "core/cpu_time.h"
#include "core/strings.h"
#include "core/version.h"

namespace allot {
namespace {

// Nobody waits for a daemon that begins. Where no controller listens, libslurm says so itself.
constexpr Seconds kAtBegin = 30;
constexpr std::time_t kLongAgo = 1;

char* Mutable(const std::string& text) { return const_cast<char*>(text.c_str()); }
char* IfAny(const std::string& text) { return text.empty() ? nullptr : Mutable(text); }

// What Slurm said, of the call that has just failed in this thread.
Status SlurmError(const char* what) {
  const int code = errno;
  return Status::Refused("{}: Slurm says: {} ({})", what, slurm_strerror(code), code);
}

// libslurm ends the process when it finds no configuration. It looks where SLURM_CONF says, else
// where Debian and where Slurm itself has it, and where slurmd keeps that of its controller.
void CheckConfiguration() {
  const char* named = std::getenv("SLURM_CONF");
  std::vector<std::string> paths = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
  if (named != nullptr) paths = {named};
  const bool found = std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  });
  if (!found) {
    throw RunError("slurm: a slurm.conf must exist, got none at {} (SLURM_CONF)",
                   Join(paths, " or "));
  }
}

Status LoadConfiguration(SlurmSettings* settings) {
  slurm_conf_t* of = nullptr;
  if (slurm_load_ctl_conf(0, &of) != SLURM_SUCCESS) {
    return SlurmError("asking for the configuration");
  }
  const std::unique_ptr<slurm_conf_t, decltype(&slurm_free_ctl_conf)> owned(of,
                                                                            slurm_free_ctl_conf);
  partition_info_msg_t* partitions = nullptr;
  if (slurm_load_partitions(0, &partitions, SHOW_ALL) != SLURM_SUCCESS) {
    return SlurmError("asking for partitions");
  }
  ReadSlurmSettings(*of, *partitions, settings);
  slurm_free_partition_info_msg(partitions);
  return Status::Ok();
}

// The thread that calls libslurm, and what it has loaded.
struct Thread {
  struct Call {
    std::function<Status()> function;
    std::mutex mutex;
    std::condition_variable changed;
    std::atomic<bool> abandoned = false;  // nobody waits any more: not to be begun
    bool done = false;
    Status status = Status::Ok();
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Call>> calls;
  bool over = false;
  std::shared_ptr<Call> at_hand;

  std::time_t jobs_as_of = 0;
  std::time_t nodes_as_of = 0;
  std::time_t reserved_as_of = 0;
  std::vector<SlurmReservation> reservations;
  std::optional<std::chrono::steady_clock::time_point> seldom_at;  // limits and partitions
  SlurmSnapshot loaded;
  std::thread thread{[this] { Run(); }};

  ~Thread() {
    {
      const std::lock_guard lock(mutex);
      over = true;
    }
    changed.notify_all();
    thread.join();
  }

  void Run() {
    slurm_init(nullptr);
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return over || !calls.empty(); });
      if (over) break;
      const std::shared_ptr<Call> call = calls.front();
      calls.pop_front();
      if (call->abandoned) continue;
      at_hand = call;
      lock.unlock();
      Status status = call->function();
      lock.lock();
      at_hand.reset();
      lock.unlock();
      const std::lock_guard of_call(call->mutex);
      call->status = std::move(status);
      call->done = true;
      call->changed.notify_all();
    }
    slurm_fini();
  }

  Status Do(Seconds patience, std::function<Status()> function) {
    Status no_answer =
        Status::Refused("slurm: the controller must answer within {} s, it did not", patience);
    auto call = std::make_shared<Call>();
    call->function = std::move(function);
    {
      const std::lock_guard lock(mutex);
      if (at_hand != nullptr && at_hand->abandoned) return no_answer;  // still busy with that
      calls.push_back(call);
    }
    changed.notify_all();
    std::unique_lock lock(call->mutex);
    if (call->changed.wait_for(lock, std::chrono::duration<double>(patience),
                               [&] { return call->done; })) {
      return call->status;
    }
    call->abandoned = true;
    return no_answer;
  }

  Status Load() {
    job_info_msg_t* jobs = nullptr;
    if (slurm_load_jobs(jobs_as_of, &jobs, SHOW_ALL | SHOW_DETAIL) == SLURM_SUCCESS) {
      SharedJobs read(loaded.jobs);
      read.Reserve(jobs->record_count);
      UserNames users;  // of this look: they may change
      for (std::uint32_t i = 0; i < jobs->record_count; ++i) {
        read.Add(ReadSlurmJob(jobs->job_array[i], &users));
      }
      loaded.jobs = read.Take();
      jobs_as_of = jobs->last_update;
      slurm_free_job_info_msg(jobs);
    } else if (errno != SLURM_NO_CHANGE_IN_DATA) {
      return SlurmError("asking for jobs");
    }
    node_info_msg_t* nodes = nullptr;
    if (slurm_load_node(nodes_as_of, &nodes, SHOW_ALL) == SLURM_SUCCESS) {
      const std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> owned(
          nodes, slurm_free_node_info_msg);
      partition_info_msg_t* partitions = nullptr;
      if (slurm_load_partitions(0, &partitions, SHOW_ALL) != SLURM_SUCCESS) {
        return SlurmError("asking for partitions");
      }
      slurm_populate_node_partitions(nodes, partitions);
      slurm_free_partition_info_msg(partitions);
      loaded.nodes.clear();
      for (std::uint32_t i = 0; i < nodes->record_count; ++i) {
        if (nodes->node_array[i].name == nullptr) continue;  // a hole
        loaded.nodes.push_back(ReadSlurmNode(nodes->node_array[i]));
      }
      nodes_as_of = nodes->last_update;
    } else if (errno != SLURM_NO_CHANGE_IN_DATA) {
      return SlurmError("asking for nodes");
    }
    reserve_info_msg_t* reserved = nullptr;
    if (slurm_load_reservations(reserved_as_of, &reserved) == SLURM_SUCCESS) {
      reservations.clear();
      for (std::uint32_t i = 0; i < reserved->record_count; ++i) {
        reservations.push_back(ReadSlurmReservation(reserved->reservation_array[i]));
      }
      reserved_as_of = reserved->last_update;
      slurm_free_reservation_info_msg(reserved);
    } else if (errno != SLURM_NO_CHANGE_IN_DATA) {
      return SlurmError("asking for reservations");
    }
    MarkReservations(reservations, std::time(nullptr), &loaded.nodes);
    LoadSeldom();
    return Status::Ok();
  }

  // Limits and partitions. Where they cannot be had, those of before hold: the pending reasons of
  // what Slurm does not start tell.
  void LoadSeldom() {
    const auto now = std::chrono::steady_clock::now();
    if (seldom_at && std::chrono::duration<double>(now - *seldom_at).count() < kSettingsEvery) {
      return;
    }
    seldom_at = now;
    SlurmSettings settings;
    if (!LoadConfiguration(&settings).ok()) return;
    loaded.partitions = std::move(settings.partitions);
    if (!settings.enforces_limits) {
      loaded.limits = {};
      return;
    }
    assoc_mgr_info_request_msg_t request{};
    request.flags = ASSOC_MGR_INFO_FLAG_ASSOC | ASSOC_MGR_INFO_FLAG_QOS;
    assoc_mgr_info_msg_t* message = nullptr;
    if (slurm_load_assoc_mgr_info(&request, &message) != SLURM_SUCCESS) return;
    loaded.limits = ReadSlurmLimits(*message);
    slurm_free_assoc_mgr_info_msg(message);
  }
};

class LibslurmBackEnd final : public SlurmBackEnd {
 public:
  explicit LibslurmBackEnd(Seconds patience) : patience_(patience) {
    CheckConfiguration();
    thread_ = std::make_unique<Thread>();
  }

  Status Load(SlurmSnapshot* snapshot) override;
  Status LoadSettings(SlurmSettings* settings) override;
  Status Submit(const SlurmSubmission& submission, std::uint32_t* id) override;
  Status Change(const SlurmChange& change) override;
  Status Requeue(std::uint32_t id) override;
  Status Cancel(const std::string& job) override;
  Status Split(const std::string& tasks, const std::string& partition) override;

 private:
  const Seconds patience_;
  std::unique_ptr<Thread> thread_;
};

Status LibslurmBackEnd::Load(SlurmSnapshot* snapshot) {
  // Copied into the caller's hands only while the thread waits: one that is late writes elsewhere.
  auto loaded = std::make_shared<SlurmSnapshot>();
  Status done = thread_->Do(patience_, [thread = thread_.get(), loaded] {
    const double begin = ThreadCpuSeconds();
    Status status = thread->Load();
    if (status.ok()) *loaded = thread->loaded;
    loaded->cpu_elsewhere = ThreadCpuSeconds() - begin;
    return status;
  });
  if (done.ok()) *snapshot = std::move(*loaded);
  return done;
}

Status LibslurmBackEnd::LoadSettings(SlurmSettings* settings) {
  auto loaded = std::make_shared<SlurmSettings>();
  Status done = thread_->Do(std::max(patience_, kAtBegin),
                            [loaded] { return LoadConfiguration(loaded.get()); });
  if (done.ok()) *settings = std::move(*loaded);
  return done;
}

Status LibslurmBackEnd::Submit(const SlurmSubmission& submission, std::uint32_t* id) {
  auto given = std::make_shared<std::uint32_t>(0);
  Status done = thread_->Do(patience_, [submission, given] {
    job_desc_msg_t job;
    slurm_init_job_desc_msg(&job);
    job.user_id = submission.user_id;
    job.group_id = submission.group_id;
    job.name = Mutable(submission.name);
    job.comment = Mutable(submission.comment);
    job.admin_comment = Mutable(submission.comment);
    job.script = Mutable(submission.script);
    job.partition = Mutable(submission.partition);
    job.req_nodes = Mutable(submission.node);
    job.tres_per_node = Mutable(submission.gres);
    job.work_dir = Mutable(submission.work_dir);
    job.std_out = Mutable(submission.output);
    job.account = IfAny(submission.account);
    job.qos = IfAny(submission.qos);
    job.min_nodes = 1;
    job.max_nodes = 1;
    job.num_tasks = 1;
    if (submission.time_limit > 0) job.time_limit = submission.time_limit;
    if (submission.cpus_per_task > 0) {
      job.cpus_per_task = submission.cpus_per_task;
      job.min_cpus = submission.cpus_per_task;
    }
    if (submission.memory > 0) job.pn_min_memory = submission.memory;
    job.priority = kBeforeAll;
    job.requeue = 0;  // a worker that comes back by itself would be one that nobody asked for
    job.open_mode = OPEN_MODE_APPEND;
    std::vector<char*> environment;
    for (const std::string& variable : submission.environment) {
      environment.push_back(Mutable(variable));
    }
    job.environment = environment.data();
    job.env_size = static_cast<std::uint32_t>(environment.size());
    submit_response_msg_t* response = nullptr;
    if (slurm_submit_batch_job(&job, &response) != SLURM_SUCCESS) {
      return SlurmError("submitting a worker");
    }
    *given = response->job_id;
    slurm_free_submit_response_response_msg(response);
    return Status::Ok();
  });
  *id = *given;
  return done;
}

// By the number as a text, which stands for a whole array.
Status SetNice(std::uint32_t id, std::uint32_t nice) {
  const std::string name = std::to_string(id);
  job_desc_msg_t job;
  slurm_init_job_desc_msg(&job);
  job.job_id_str = Mutable(name);
  job.nice = NICE_OFFSET + nice;
  job_array_resp_msg_t* response = nullptr;
  if (slurm_update_job2(&job, &response) != SLURM_SUCCESS) {
    return SlurmError("changing the Nice of a job");
  }
  if (response == nullptr) return Status::Ok();
  const std::uint32_t* const codes = response->error_code;
  const std::uint32_t worst =
      std::accumulate(codes, codes + response->job_array_count, std::uint32_t{SLURM_SUCCESS},
                      [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  slurm_free_job_array_resp(response);
  errno = static_cast<int>(worst);
  return worst == SLURM_SUCCESS ? Status::Ok() : SlurmError("changing the Nice of a job");
}

Status LibslurmBackEnd::Change(const SlurmChange& change) {
  if (change.nice) {
    return thread_->Do(patience_, [change] { return SetNice(change.id, *change.nice); });
  }
  return thread_->Do(patience_, [change] {
    char no_features[] = "";
    const auto update = [&](const std::function<void(job_desc_msg_t*)>& fill, const char* what) {
      job_desc_msg_t job;
      slurm_init_job_desc_msg(&job);
      job.job_id = change.id;
      fill(&job);
      return slurm_update_job(&job) == SLURM_SUCCESS ? Status::Ok() : SlurmError(what);
    };
    Status done = Status::Ok();
    if (change.node_count > 0) {
      done = update(
          [&](job_desc_msg_t* job) {
            job->min_nodes = change.node_count;
            job->max_nodes = change.node_count;
          },
          "setting the number of nodes");
    }
    if (!done.ok()) return done;
    done = update(
        [&](job_desc_msg_t* job) {
          job->partition = IfAny(change.partition);
          job->admin_comment = IfAny(change.admin_comment);
          job->req_nodes = IfAny(change.nodes);
          job->tres_per_node = IfAny(change.gres);
          if (change.time_limit > 0) job->time_limit = change.time_limit;
          if (const auto& one_core = change.one_core) {
            job->num_tasks = 1;
            job->cpus_per_task = 1;
            job->min_cpus = job->max_cpus = 1;
            job->pn_min_cpus = 1;
            if (one_core->memory_mib > 0) job->pn_min_memory = one_core->memory_mib;
            if (one_core->any_features) job->features = no_features;
          }
          if (change.first) job->priority = kBeforeAll;
          // A requeued job would wait two minutes. Ours may be another clock than the controller's.
          if (change.node_count > 0) job->begin_time = kLongAgo;
        },
        "changing a job");
    if (!done.ok() || !change.release) return done;
    return update([](job_desc_msg_t* job) { job->priority = INFINITE; }, "releasing a job");
  });
}

Status LibslurmBackEnd::Requeue(std::uint32_t id) {
  return thread_->Do(patience_, [id] {
    return slurm_requeue(id, JOB_REQUEUE_HOLD | JOB_RUNNING) == SLURM_SUCCESS
               ? Status::Ok()
               : SlurmError("requeueing a job");
  });
}

Status LibslurmBackEnd::Cancel(const std::string& job) {
  return thread_->Do(patience_, [job] {
    if (slurm_kill_job2(job.c_str(), SIGKILL, 0, nullptr) == SLURM_SUCCESS ||
        errno == ESLURM_ALREADY_DONE || errno == ESLURM_INVALID_JOB_ID) {
      return Status::Ok();
    }
    return SlurmError("ending a job");
  });
}

// Any change of some of its tasks splits an array: this one sets the partition that they are in.
Status LibslurmBackEnd::Split(const std::string& tasks, const std::string& partition) {
  return thread_->Do(patience_, [tasks, partition] {
    job_desc_msg_t job;
    slurm_init_job_desc_msg(&job);
    job.job_id_str = Mutable(tasks);
    job.partition = Mutable(partition);
    job_array_resp_msg_t* response = nullptr;
    if (slurm_update_job2(&job, &response) != SLURM_SUCCESS) {
      return SlurmError("splitting an array");
    }
    if (response != nullptr) slurm_free_job_array_resp(response);
    return Status::Ok();
  });
}

}  // namespace
}  // namespace allot

extern "C" {
const char* allot_slurm_build() {
  static const std::string version = allot::Version();
  return version.c_str();
}

allot::SlurmBackEnd* allot_slurm_open(double patience) {
  return new allot::LibslurmBackEnd(patience);
}
}
