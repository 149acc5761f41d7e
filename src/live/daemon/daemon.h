#pragma once
// The daemon, which runs a policy on a runtime: the driver's loop (sched/driver.h) over a
// LiveCluster, with a lock, a journal and a control server. Made by 'allot serve'.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "live/daemon/shadow.h"
#include "live/port/keep_on_error_policy.h"
#include "live/port/live_cluster.h"
#include "live/status/quote_source.h"
#include "live/status/status_part.h"
#include "sched/driver.h"

namespace allot {

struct DaemonOptions {
  std::filesystem::path state;  // folder of journal, lock and socket
  std::string runtime = "local";
  std::string policy;                  // as the status names it
  std::optional<std::string> rules{};  // file of the operator's rules, as the status names it
  std::string metrics;                 // address for Prometheus; "": none
  std::optional<std::filesystem::path> user_socket{};  // where any user may ask; unset: nowhere
  bool metrics_for_all = false;                        // it may be other than of the loopback
  bool stop_jobs = false;  // end them when the daemon ends; else they run on for the next one
  bool standby = false;    // waits in its constructor until no other daemon is in charge
  LiveOptions live{};
};

// What a running daemon takes over when its files are read again.
struct DaemonSettings {
  LiveSettings live{};
  std::optional<std::string> rules{};  // as in DaemonOptions
};

class Daemon {
 public:
  // RunError when another daemon serves this state folder. `shadow` may be null.
  Daemon(DaemonOptions options, std::unique_ptr<Policy> policy,
         std::unique_ptr<Shadow> shadow = nullptr);
  ~Daemon();

  // Adds a part to status and metrics. It must outlive the daemon's run.
  void Show(const StatusPart& part);

  // Users' requests for quotes go there.
  void AnswerQuotes(std::shared_ptr<QuoteSource> quotes);

  // `read` is called when the process gets SIGHUP (core/interrupt.h). If it throws an Error, the
  // log says why, and everything stays as it is.
  void OnReload(std::function<DaemonSettings()> read);

  // Until a signal, or until idle where the options say so. `on_status` gets the status a few times
  // a second; it may be empty. Runs once.
  void Run(std::span<DecisionListener* const> listeners = {},
           const std::function<void(const DaemonStatus&)>& on_status = {});

  const LiveCluster& cluster() const;
  const DecisionCounts& decisions() const;
  std::string metrics_address() const;

  static std::filesystem::path SocketIn(const std::filesystem::path& state) {
    return state / "control.sock";
  }
  static std::filesystem::path UserSocketIn(const std::filesystem::path& folder) {
    return folder / "users.sock";
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot
