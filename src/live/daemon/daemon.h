#pragma once
// The daemon: a policy in charge of a runtime. It is the driver's loop (sched/driver.h) on a
// LiveCluster, with a lock, a journal and a control server. Made by 'allot serve'.

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "live/daemon/shadow.h"
#include "live/daemon/status_part.h"
#include "live/port/keep_on_error_policy.h"
#include "live/port/live_cluster.h"
#include "sched/driver.h"

namespace allot {

struct DaemonOptions {
  std::filesystem::path state;  // folder of journal, lock and socket
  std::string runtime = "local";
  std::string policy;            // for people
  std::string rules{};           // file of the operator's rules, for people; "": none
  std::string metrics;           // address for Prometheus; "": none
  bool metrics_for_all = false;  // it may be other than of the loopback
  bool stop_jobs = false;        // end them when the daemon ends; else they run on for the next one
  bool standby = false;          // waits in its constructor until no other daemon is in charge
  LiveOptions live{};
};

class Daemon {
 public:
  // RunError when another daemon serves this state folder. `shadow` may be null.
  Daemon(DaemonOptions options, std::unique_ptr<Policy> policy,
         std::unique_ptr<Shadow> shadow = nullptr);
  ~Daemon();

  // It adds to status and metrics from now on, and outlives the daemon's run.
  void Show(const StatusPart& part);

  // Until a signal, or until idle where the options say so. `on_status` sees the status a few times
  // a second; empty: nobody looks. Runs once.
  void Run(std::span<DecisionListener* const> listeners = {},
           const std::function<void(const nlohmann::ordered_json&)>& on_status = {});

  const LiveCluster& cluster() const;
  const DecisionCounts& decisions() const;
  std::string metrics_address() const;

  static std::filesystem::path SocketIn(const std::filesystem::path& state) {
    return state / "control.sock";
  }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What 'allot status' shows.
nlohmann::ordered_json StatusJson(const LiveCluster& cluster, const DecisionCounts& decisions,
                                  const DaemonOptions& options);
// The same on one line, with what others add, in the memory of the text alone: of many thousand
// jobs it is megabytes. `shadow` null: none.
std::string StatusText(const LiveCluster& cluster, const DecisionCounts& decisions,
                       const DaemonOptions& options, const Shadow* shadow,
                       std::span<const StatusPart* const> parts);

// The same for Prometheus (text format 0.0.4).
std::string MetricsText(const LiveCluster& cluster, const DecisionCounts& decisions);

}  // namespace allot
