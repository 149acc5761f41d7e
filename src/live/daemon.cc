#include "live/daemon.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "live/control_server.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

constexpr Seconds kPublishEvery = 0.2;
constexpr Seconds kStopPatience = 30;

}  // namespace

struct Daemon::Impl {
  explicit Impl(DaemonOptions given, std::unique_ptr<Policy> inside)
      : options(std::move(given)), lock(options.state), policy(std::move(inside)) {
    std::vector<JournalRecord> past;
    double origin = kUnknown;
    Seconds last = 0;
    if (!options.live.dry_run) {
      journal = std::make_unique<Journal>(options.state / "journal.jsonl");
      past = journal->TakePast();
      if (!journal->torn().empty()) {
        spdlog::warn("the journal's last record was cut off and is dropped: {}", journal->torn());
      }
      for (const JournalRecord& record : past) {
        last = std::max<Seconds>(last, record.at("at"));
        if (record.at("what") == "serve") origin = record.at("origin");
      }
    }
    clock = std::make_unique<LiveClock>(origin, last);
    runtime = MakeRuntime(options.runtime, {std::filesystem::absolute(options.state)});
    cluster = std::make_unique<LiveCluster>(*runtime, journal.get(), *clock, options.live, past);
    control = std::make_unique<ControlServer>(SocketIn(options.state).string(), options.metrics);
    if (journal != nullptr) {
      journal->Append(clock->Now(), "serve",
                      {{"origin", clock->origin()},
                       {"pid", ::getpid()},
                       {"runtime", options.runtime},
                       {"policy", options.policy}});
      journal->Commit();
    }
    spdlog::info("serving {} with policy {}, state in {}, {} earlier records", options.runtime,
                 options.policy, options.state.string(), past.size());
    if (!options.metrics.empty()) spdlog::info("metrics at {}", control->metrics_address());
  }

  Json Act(const Json& request) {
    const std::string what = request.at("do");
    if (what == "pause") {
      cluster->Pause();
    } else if (what == "resume") {
      cluster->Resume();
    } else if (what == "drain" && request.contains("node")) {
      cluster->DrainNode(request.at("node"));
    } else if (what == "drain") {
      cluster->Drain();
    } else {
      throw UsageError("a daemon knows status, pause, resume and drain, got '{}'", what);
    }
    spdlog::info("a user says: {}", request.dump());
    return {{"done", what}};
  }

  void OnLook(const std::function<void(const Json&)>& on_status) {
    control->Serve([this](const Json& request) { return Act(request); });
    if (clock->Now() - published < kPublishEvery) return;
    published = clock->Now();
    Json status = StatusJson(*cluster, policy.counts(), options);
    if (on_status) on_status(status);
    control->Publish(std::move(status), MetricsText(*cluster, policy.counts()));
  }

  DaemonOptions options;
  StateLock lock;
  SteadyPolicy policy;
  std::unique_ptr<Journal> journal;
  std::unique_ptr<LiveClock> clock;
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<LiveCluster> cluster;
  std::unique_ptr<ControlServer> control;
  Seconds published = -kPublishEvery;
};

Daemon::Daemon(DaemonOptions options, std::unique_ptr<Policy> policy)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(policy))) {}
Daemon::~Daemon() = default;

const LiveCluster& Daemon::cluster() const { return *impl_->cluster; }

std::string Daemon::metrics_address() const { return impl_->control->metrics_address(); }

void Daemon::Run(std::span<DecisionListener* const> listeners,
                 const std::function<void(const Json&)>& on_status) {
  Impl& m = *impl_;
  m.cluster->OnLook([&] { m.OnLook(on_status); });
  try {
    if (m.cluster->WaitForJobs()) {
      EpisodeContext context;
      context.cluster = &m.cluster->state().present();
      DriveOptions drive;
      drive.time_decisions = false;  // SteadyPolicy does, in constant memory
      Drive(*m.cluster, m.policy, context, listeners, drive);
    }
  } catch (const Error& error) {
    if (error.code() != ExitCode::kInterrupted) throw;
  }
  if (m.options.stop_jobs && !m.options.live.dry_run) m.cluster->StopAllJobs(kStopPatience);
  const auto& active = m.cluster->state().book().active();
  if (!active.empty()) {
    spdlog::info("{} jobs are left as they are; the next daemon on this state goes on with them",
                 active.size());
  }
}

}  // namespace allot
