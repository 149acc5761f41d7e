#include "live/daemon/daemon.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file_lock.h"
#include "core/interrupt.h"
#include "core/owned_folder.h"
#include "live/daemon/control_server.h"
#include "live/daemon/daemon_metrics.h"
#include "live/daemon/daemon_status.h"
#include "live/daemon/metrics_server.h"
#include "live/daemon/user_status_server.h"
#include "live/port/live_rules.h"
#include "live/state/run_begin.h"
#include "live/state/standby_note.h"
#include "live/status/status_json.h"
#include "rules/constrained_cluster.h"

namespace allot {
namespace {

constexpr Seconds kPublishEvery = 0.2;
constexpr Seconds kPublishLeast = 2;     // at least every so many seconds
constexpr double kPublishPerWork = 100;  // pause per CPU time: publishing uses 1 % of a core
// A status that costs more is only made on request.
constexpr Seconds kCheapStatus = kPublishLeast / kPublishPerWork;
constexpr Seconds kStopPatience = 30;

// Makes sure that the folder is this user's with mode 0700, and returns the path of its lock.
std::filesystem::path LockIn(const std::filesystem::path& folder) {
  OwnedFolder::OpenOrMake(folder).CloseToOthers();
  return folder / "lock";
}

// Metrics show numbers of jobs and the cluster's size, so the network gets them only on request.
void RequireLoopback(const std::string& address) {
  if (address.empty() || address.starts_with("tcp:127.") || address.starts_with("unix:")) return;
  throw UsageError(
      "metrics are served on the loopback (tcp:127.0.0.1:PORT) unless "
      "--metrics-for-all is given, got '{}'",
      address);
}

}  // namespace

struct Daemon::Impl {
  Impl(DaemonOptions given, std::unique_ptr<Policy> inside, std::unique_ptr<Shadow> beside)
      : options(std::move(given)),
        lock(LockIn(options.state), "one daemon a state folder"),
        policy(std::move(inside)),
        shadow(std::move(beside)) {
    std::vector<TimedRecord> past;
    if (!options.live.dry_run) {
      journal = std::make_unique<Journal>(options.state / "journal.jsonl");
      past = journal->TakePast();
      if (!journal->torn().empty()) {
        spdlog::warn("dropped the journal's last record, which was cut off: {}", journal->torn());
      }
    }
    if (!options.metrics_for_all) RequireLoopback(options.metrics);
    note = std::make_unique<StandbyNote>(options.state, options.runtime);
    runtime = MakeRuntime(options.runtime,
                          {.state = std::filesystem::absolute(options.state),
                           .dry_run = options.live.dry_run,
                           .standby = options.standby,
                           .on_wait = [this](const std::string& why) { note->Update(why); }});
    note->Remove();
    RunBegin begin = FindRunBegin(past, *runtime, LiveClock::System());
    clock = std::make_unique<LiveClock>(begin.origin, begin.last);
    cluster = std::make_unique<LiveCluster>(*runtime, journal.get(), *clock, options.live, past,
                                            std::move(begin.first));
    constrained = std::make_unique<ConstrainedCluster>(*cluster, *cluster, cluster->guarantees(),
                                                       ValidateLiveAllocation);
    control = std::make_unique<ControlServer>(SocketIn(options.state).string(),
                                              [this] { runtime->Wake(); });
    if (!options.metrics.empty()) metrics = std::make_unique<MetricsServer>(options.metrics);
    if (options.user_socket) users = std::make_unique<UserStatusServer>(*options.user_socket);
    if (journal != nullptr) {
      journal->Append(
          {clock->Now(),
           record::Serve{clock->origin(), {{::getpid(), options.runtime, options.policy}}}});
      journal->Commit();
    }
    spdlog::info("serving {} with policy {}, state in {}, {} earlier records", options.runtime,
                 options.policy, options.state.string(), past.size());
    if (metrics != nullptr) spdlog::info("metrics at {}", metrics->address());
    if (users != nullptr) spdlog::info("users may ask at {}", options.user_socket->string());
  }

  ControlReply Act(const ControlRequest& request) {
    switch (request.action) {
      case ControlAction::kPause:
        cluster->Pause(request.by);
        break;
      case ControlAction::kResume:
        cluster->Resume(request.by);
        break;
      case ControlAction::kDrain:
        if (request.node) {
          request.undo ? cluster->UndrainNode(*request.node, request.by)
                       : cluster->DrainNode(*request.node, request.by);
        } else {
          request.undo ? cluster->Undrain(request.by) : cluster->Drain(request.by);
        }
        break;
      case ControlAction::kCancel:
        cluster->Cancel(*request.job, request.by);
        break;
      case ControlAction::kStatus:
      case ControlAction::kQuote:
        break;  // not for the daemon's thread
    }
    spdlog::info("control request of {}: {}", request.by.value_or("the daemon"),
                 WriteRequest(request));
    const LiveState& state = cluster->state();
    ControlReply reply{request.action, state.paused(), state.drained(), {}};
    if (request.node) {
      const NodeIndex node = state.NodeOf(*request.node);
      reply.node = {*request.node, {}};
      if (node >= 0) reply.node->state = state.StateOf(node);
    }
    return reply;
  }

  void Reload() {
    if (!reread) return;
    try {
      DaemonSettings settings = reread();
      cluster->SetSettings(settings.live);
      constrained->SetGuarantees(cluster->guarantees());
      options.rules = std::move(settings.rules);
      options.live.interval = settings.live.interval;
    } catch (const Error& error) {
      spdlog::error("the settings stay as they are, because the new ones cannot be read: {}",
                    error.what());
    }
  }

  void OnPoll(const std::function<void(const DaemonStatus&)>& on_status) {
    if (TakeReloadRequest()) Reload();
    control->Serve([this](const ControlRequest& request) { return Act(request); });
    const bool wanted = control->status_wanted();
    if (clock->Now() < publish_at && !wanted) return;
    const Seconds begin = ThreadCpuSeconds();
    const bool for_control = wanted || on_status || status_cost < kCheapStatus;
    const bool for_users = users != nullptr && users->wanted();
    if (for_control || for_users) {
      auto status =
          std::make_shared<DaemonStatus>(MakeStatus(*cluster, policy.counts(), options, parts));
      if (shadow != nullptr) status->shadow = shadow->status();
      if (on_status) on_status(*status);
      if (for_control) control->PublishStatus(WriteStatus(*status));
      if (for_users) users->Publish(std::move(status));
      status_cost = ThreadCpuSeconds() - begin;
    }
    if (!for_control) control->DropStatus();
    if (metrics != nullptr) PublishMetrics();
    const Seconds pause = kPublishPerWork * (ThreadCpuSeconds() - begin);
    publish_at = clock->Now() + std::clamp(pause, kPublishEvery, kPublishLeast);
  }

  void PublishMetrics() {
    std::string text = MetricsText(*cluster, policy.counts());
    if (shadow != nullptr) text += shadow->MetricsText();
    for (const StatusPart* part : parts) text += part->MetricsText();
    metrics->Publish(std::move(text));
  }

  DaemonOptions options;
  FileLock lock;
  KeepOnErrorPolicy policy;
  std::unique_ptr<Shadow> shadow;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<LiveClock> clock;
  std::unique_ptr<StandbyNote> note;  // outlives the runtime, which updates it
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<LiveCluster> cluster;
  std::unique_ptr<ConstrainedCluster> constrained;  // what policies see of it
  std::unique_ptr<ControlServer> control;
  std::unique_ptr<MetricsServer> metrics;   // null: none
  std::unique_ptr<UserStatusServer> users;  // null: none
  std::shared_ptr<QuoteSource> quotes;      // ends before the servers that it answers
  std::function<DaemonSettings()> reread;   // empty: nothing can be read again
  std::vector<const StatusPart*> parts;
  Seconds publish_at = 0;
  Seconds status_cost = 0;  // CPU time of the last status
};

Daemon::Daemon(DaemonOptions options, std::unique_ptr<Policy> policy,
               std::unique_ptr<Shadow> shadow)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(policy), std::move(shadow))) {}
Daemon::~Daemon() = default;

const LiveCluster& Daemon::cluster() const { return *impl_->cluster; }

void Daemon::Show(const StatusPart& part) { impl_->parts.push_back(&part); }

void Daemon::AnswerQuotes(std::shared_ptr<QuoteSource> quotes) {
  impl_->control->SetQuotes(quotes);
  if (impl_->users != nullptr) impl_->users->SetQuotes(quotes);
  impl_->quotes = std::move(quotes);
}

const DecisionCounts& Daemon::decisions() const { return impl_->policy.counts(); }

std::string Daemon::metrics_address() const {
  return impl_->metrics == nullptr ? "" : impl_->metrics->address();
}

void Daemon::OnReload(std::function<DaemonSettings()> read) { impl_->reread = std::move(read); }

void Daemon::Run(std::span<DecisionListener* const> listeners,
                 const std::function<void(const DaemonStatus&)>& on_status) {
  Impl& m = *impl_;
  m.cluster->OnPoll([&] { m.OnPoll(on_status); });
  std::vector<DecisionListener*> all(listeners.begin(), listeners.end());
  if (m.shadow != nullptr) all.push_back(m.shadow.get());
  try {
    if (m.constrained->WaitForChange(0)) {
      EpisodeContext context;
      context.cluster = m.constrained->Observe().cluster;
      DriveOptions drive;
      // KeepOnErrorPolicy does both, the first in constant memory.
      drive.time_decisions = false;
      drive.valid_answers = true;
      if (m.shadow != nullptr) m.shadow->OnEpisodeStart(context);
      Drive(*m.constrained, m.policy, context, all, drive);
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::kInterrupted) throw;
  }
  if (m.options.stop_jobs && !m.options.live.dry_run) m.cluster->StopAllJobs(kStopPatience);
  const auto& active = m.cluster->state().job_table().active();
  if (!active.empty()) {
    spdlog::info("{} jobs keep running; the next daemon on this state takes them over",
                 active.size());
  }
}

}  // namespace allot
