// The runtime "local": worker processes on this machine, GPUs that exist only in name. Jobs come
// from job files; all that is known of them lies in state/local/jobs/<id> (job_folder.h), so that a
// later daemon finds jobs and workers as they are. Workers speak to state/local/workers.sock.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <map>
#include <utility>

#include "auth/secret.h"
#include "core/error.h"
#include "core/strings.h"
#include "live/runtimes/local/job_file.h"
#include "live/runtimes/local/job_folder.h"
#include "live/runtimes/local/process.h"
#include "live/runtimes/runtime.h"
#include "live/runtimes/worker_end.h"
#include "live/workers/worker_hub.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

double UnixNow() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string UserName() {
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : std::to_string(::getuid());
}

// One that was free a moment ago.
int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  (void)::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

// A comma ends a parameter, so parts of a cluster are separated as in all lists.
std::string WithCommas(std::string text) {
  std::replace(text.begin(), text.end(), '|', ',');
  return text;
}

class LocalRuntime final : public Runtime {
 public:
  LocalRuntime(const Params& params, const RuntimeOptions& options)
      : folder_(options.state / "local"),
        spool_(params.Text("spool")),
        user_(UserName()),
        cluster_(ClusterSpec::Parse(WithCommas(params.Text("cluster")))) {
    fs::create_directories(folder_ / "jobs");
    hub_ = std::make_unique<WorkerHub>("unix:" + (folder_ / "workers.sock").string());
    hub_->OnFinished([this](const std::string& job) { EndJob(job, JobState::kFinished, ""); });
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "jobs")) {
      Recover(entry.path());
    }
    if (!params.Text("jobs").empty()) TakeFile(params.Text("jobs"));
    if (!spool_.empty()) fs::create_directories(spool_);
  }

  RuntimeSnapshot TakeSnapshot() override {
    if (!spool_.empty()) TakeJobFiles(spool_, [this](const fs::path& file) { TakeFile(file); });
    RuntimeSnapshot snapshot;
    for (std::size_t n = 0; n < cluster_.nodes().size(); ++n) {
      const Node& node = cluster_.nodes()[n];
      snapshot.nodes.push_back(
          {NodeName(n), cluster_.types()[static_cast<std::size_t>(node.type)], node.capacity});
    }
    const double now = UnixNow();
    for (auto& [id, job] : jobs_) {
      ReadWorkers(job, &snapshot);
      if (job.forgotten) continue;
      if (!Arrived(job, now)) {
        ++snapshot.more;
      } else {
        snapshot.jobs.push_back(std::make_shared<const RuntimeJob>(job.spec.asked));
      }
    }
    return snapshot;
  }

  Status Start(const std::string& id, std::span<const WorkerRequest> requests) override {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return Status::Refused("no job '{}'", id);
    Job& job = found->second;
    const std::string port = std::to_string(FreePort());
    job.started = requests.size();
    job.done = 0;
    for (std::size_t rank = 0; rank < requests.size(); ++rank) {
      const WorkerRequest& request = requests[rank];
      if (job.workers.contains(request.worker)) continue;
      try {
        auto environment = EnvironmentOf(job, request);
        if (const auto every = hub_->checkpoint_every(id)) {
          environment["ALLOT_CHECKPOINT_EVERY"] = fmt::format("{:.0f}", *every);
        }
        if (job.spec.asked.mode == ResizeMode::kRestart) {
          environment["ALLOT_RANK"] = std::to_string(rank);
          environment["ALLOT_WORLD_SIZE"] = std::to_string(requests.size());
          environment["ALLOT_MASTER_ADDR"] = "127.0.0.1";
          environment["ALLOT_MASTER_PORT"] = port;
          if (request.plan) environment["ALLOT_PLAN"] = *request.plan;
        }
        StartWorker(job, request, std::move(environment));
      } catch (const Error& error) {
        for (std::size_t started = 0; started < rank; ++started) {
          (void)Stop(requests[started].worker, StopMode::kKill);
        }
        // Another try would find no program either.
        if (error.code() == ExitCode::kBadData) EndJob(id, JobState::kFailed, error.what());
        return Status::Refused("{}", error.what());
      }
    }
    return Status::Ok();
  }

  Status Stop(const std::string& id, StopMode mode) override {
    const auto [job, worker] = FindWorker(id);
    if (worker == nullptr || worker->ended) return Status::Ok();
    if (!std::exchange(worker->record.stopped, true)) job->folder.MarkStopped(id);
    if (mode == StopMode::kKill) {
      Signal(worker->record.process, SIGKILL);
    } else if (job->spec.asked.mode == ResizeMode::kHot && hub_->joined(id)) {
      hub_->Stop(id);
    } else {
      Signal(worker->record.process, SIGTERM);
    }
    return Status::Ok();
  }

  Status Announce(const std::string& job, const Membership& membership) override {
    return hub_->Announce(job, membership);
  }

  Status SetBatch(const std::string& job, const WorkerBatchOrder& batch) override {
    hub_->SetBatch(job, batch);
    return Status::Ok();
  }
  Status SetCheckpointEvery(const std::string& job, Seconds every) override {
    hub_->SetCheckpointEvery(job, every);
    return Status::Ok();
  }

  JobProgress Progress(const std::string& job) override { return hub_->Progress(job); }

  Status Fail(const std::string& job, const std::string& reason) override {
    EndJob(job, JobState::kFailed, reason);
    return Status::Ok();
  }

  Status Cancel(const std::string& job) override {
    EndJob(job, JobState::kCancelled, "by its user");
    return Status::Ok();
  }

  void Forget(const std::string& id) override {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    found->second.forgotten = true;
    hub_->RemoveJob(id);
  }

  void Wait(Seconds at_most) override { hub_->Serve(at_most); }
  void Wake() override { hub_->Wake(); }

 private:
  struct Worker {
    LocalWorkerRecord record;
    bool watched = false;  // by this daemon, alive
    bool ended = false;
    WorkerVerdict verdict;
    std::string reason;
  };
  struct Job {
    LocalJob spec;
    LocalJobFolder folder;
    std::map<std::string, Worker> workers;
    std::size_t started = 0;  // workers of the last start
    std::size_t done = 0;     // of these, ended by themselves with success
    bool arrived = false;
    bool forgotten = false;
  };

  static std::string NodeName(std::size_t index) { return fmt::format("n{}", index + 1); }

  std::pair<Job*, Worker*> FindWorker(const std::string& id) {
    for (auto& [name, job] : jobs_) {
      const auto found = job.workers.find(id);
      if (found != job.workers.end()) return {&job, &found->second};
    }
    return {nullptr, nullptr};
  }

  // ---- jobs ----

  // A job stays submitted when the clock is set back.
  static bool Arrived(Job& job, double now) {
    if (!job.arrived && job.spec.asked.submit <= now) {
      job.folder.MarkArrived();
      job.arrived = true;
    }
    return job.arrived;
  }

  void Recover(const fs::path& path) {
    Job job;
    job.folder = LocalJobFolder(path);
    if (!job.folder.complete()) return;
    job.spec = job.folder.ReadJob();
    job.arrived = job.folder.arrived();
    const std::string id = job.spec.asked.id;
    hub_->AddJob(id, job.folder.ReadToken());
    for (auto& [name, record] : job.folder.ReadWorkers()) {
      hub_->Expect(id, name);
      job.workers[name].record = std::move(record);
    }
    job.started = job.workers.size();
    jobs_[id] = std::move(job);
  }

  // Idempotent: a file is known by its path and time.
  void TakeFile(const fs::path& path) {
    const std::vector<LocalJob> jobs = ReadJobFile(path);
    std::error_code gone;  // since it was read
    const std::string tag = fmt::format("{}@{}", fs::absolute(path).lexically_normal().string(),
                                        fs::last_write_time(path, gone).time_since_epoch().count());
    for (std::size_t n = 0; n < jobs.size(); ++n) {
      TakeJob(jobs[n], fmt::format("{}#{}", tag, n));
    }
  }

  void TakeJob(LocalJob spec, const std::string& source) {
    const std::string name = spec.asked.id;
    for (int copy = 2; jobs_.contains(spec.asked.id); ++copy) {
      if (jobs_.at(spec.asked.id).folder.ReadSource() == source) return;
      spec.asked.id = fmt::format("{}-{}", name, copy);
    }
    spec.asked.user = user_;
    spec.asked.submit = UnixNow() + spec.after;
    if (spec.asked.deadline != kNever) spec.asked.deadline += spec.asked.submit;
    Job job;
    job.folder = LocalJobFolder(folder_ / "jobs" / spec.asked.id);
    const std::string token = NewToken();
    job.folder.Create(spec, token, source);
    hub_->AddJob(spec.asked.id, token);
    job.spec = std::move(spec);
    jobs_[job.spec.asked.id] = std::move(job);
  }

  void EndJob(const std::string& id, JobState state, const std::string& reason) {
    Job& job = jobs_.at(id);
    if (job.spec.asked.state != JobState::kActive) return;
    job.folder.WriteEnd(state, reason);
    job.spec.asked.state = state;
    job.spec.asked.reason = reason;
  }

  // ---- workers ----

  std::map<std::string, std::string> EnvironmentOf(const Job& job,
                                                   const WorkerRequest& request) const {
    std::string gpus;
    for (int gpu = 0; gpu < kMaxGpusPerNode; ++gpu) {
      if ((request.gpus >> gpu & 1) != 0) gpus += (gpus.empty() ? "" : ",") + std::to_string(gpu);
    }
    std::string type;
    for (std::size_t n = 0; n < cluster_.nodes().size(); ++n) {
      if (NodeName(n) != request.node) continue;
      type = cluster_.types()[static_cast<std::size_t>(cluster_.nodes()[n].type)];
    }
    return {{"ALLOT_JOB_ID", job.spec.asked.id},
            {"ALLOT_WORKER_ID", request.worker},
            {"ALLOT_DAEMON", hub_->address()},
            {"ALLOT_TOKEN", job.folder.ReadToken()},
            {"ALLOT_RUN_DIR", job.folder.run().string()},
            {"ALLOT_LOCAL_GPU_ID", std::to_string(std::countr_zero(request.gpus))},
            {"ALLOT_ACCESSIBLE_GPUS", gpus},
            {"ALLOT_GPU_TYPE", type},
            {"ALLOT_NODE", request.node},
            {"CUDA_VISIBLE_DEVICES", gpus}};
  }

  void StartWorker(Job& job, const WorkerRequest& request,
                   std::map<std::string, std::string> environment) {
    ProcessSpec spec;
    spec.command = job.spec.command;
    spec.environment = std::move(environment);
    spec.directory = job.spec.directory;
    spec.log = job.folder.log(request.worker);
    spec.exit_file = job.folder.exit_file(request.worker);
    NewProcess process(spec);
    Worker worker;
    worker.record = {.process = process.id(), .node = request.node, .gpus = request.gpus};
    worker.watched = true;
    job.folder.WriteWorker(request.worker, worker.record);
    hub_->Expect(job.spec.asked.id, request.worker);
    job.workers[request.worker] = std::move(worker);
    process.Go();
  }

  void JudgeEnd(const Job& job, const std::string& id, Worker* worker) const {
    const ProcessId& process = worker->record.process;
    const bool alive = Alive(process);  // first: the file is written before the keeper ends
    const auto text = ExitText(job.folder.exit_file(id));
    if (alive && !text) {
      worker->watched = true;
      return;
    }
    if (!text) Signal(process, SIGKILL);  // what it left behind
    worker->ended = true;
    worker->reason = text ? (*text == "0" ? "exit code 0" : "ended with " + *text)
                          : "it and its keeper were killed";
    worker->verdict =
        JudgeWorkerEnd({.mode = job.spec.asked.mode,
                        .exit = text == "0" ? WorkerExit::kSuccess : WorkerExit::kFailure,
                        .job_over = job.spec.asked.state != JobState::kActive,
                        .stopped = worker->record.stopped,
                        .watched = worker->watched,
                        .joined = hub_->joined(id),
                        .announced = hub_->announced(job.spec.asked.id),
                        .member = hub_->member(id)});
  }

  void ReadWorkers(Job& job, RuntimeSnapshot* snapshot) {
    const std::string id = job.spec.asked.id;
    const bool restart = job.spec.asked.mode == ResizeMode::kRestart;
    for (auto& [name, worker] : job.workers) {
      if (worker.ended) continue;
      JudgeEnd(job, name, &worker);
      if (worker.ended && worker.verdict.end == WorkerEnd::kFinished) ++job.done;
    }
    if (restart && job.started > 0 && job.done >= job.started) EndJob(id, JobState::kFinished, "");
    for (const auto& [name, worker] : job.workers) {
      RuntimeWorker seen;
      seen.id = name;
      seen.job = id;
      seen.node = worker.record.node;
      seen.gpus = worker.record.gpus;
      if (restart || hub_->joined(name)) seen.state = WorkerState::kReady;
      if (worker.ended) SetEnded(worker.verdict, worker.reason, &seen);
      if (!restart && !worker.ended) seen.silent = hub_->silent(name);
      snapshot->workers.push_back(std::move(seen));
    }
    // Shown as ended once; its files stay for people, but tell a later daemon nothing.
    std::erase_if(job.workers, [&](const auto& entry) {
      if (!entry.second.ended) return false;
      hub_->RemoveWorker(entry.first);
      job.folder.Retire(entry.first);
      return true;
    });
  }

  fs::path folder_;
  fs::path spool_;
  std::string user_;
  ClusterSpec cluster_;
  std::unique_ptr<WorkerHub> hub_;
  std::map<std::string, Job> jobs_;
};

ALLOT_REGISTER(RuntimeInfo,
               (RuntimeInfo{"local",
                            "worker processes on this machine, with imaginary GPUs",
                            {{"cluster", "2x4",
                              "nodes and GPUs as in --cluster of simulate, parts separated by |"},
                             {"jobs", "", "job file to begin with (TOML)"},
                             {"spool", "", "folder into which job files may be put at any time"}},
                            [](const Params& params, const RuntimeOptions& options) {
                              if (options.standby) {
                                throw UsageError(
                                    "--standby waits for another daemon's cluster, and runtime "
                                    "local has one of its own");
                              }
                              return std::make_unique<LocalRuntime>(params, options);
                            }}));

}  // namespace
}  // namespace allot
