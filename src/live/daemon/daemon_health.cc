// Checks a running daemon: whether it answers, polls and decides, and whether workers can reach it.

#include "live/daemon/daemon_health.h"

#include <algorithm>
#include <cmath>

#include "core/counted.h"
#include "core/file.h"
#include "core/file_lock.h"
#include "core/strings.h"
#include "core/wall_clock.h"
#include "live/daemon/control_server.h"
#include "live/daemon/daemon.h"
#include "live/state/standby_note.h"
#include "live/workers/listen.h"

namespace allot {
namespace {

constexpr double kStale = 30;            // seconds; a status is usually written every two
constexpr double kLeastUndecided = 120;  // seconds
constexpr double kIntervals = 10;

HealthFinding CheckAnswer(const DaemonFacts& facts) {
  const DaemonStatus& status = facts.status;
  const double age = facts.now - status.written_at;
  const std::string seen = fmt::format("policy {}, runtime {}, {}", status.policy, status.runtime,
                                       Counted(std::ssize(status.jobs), "job"));
  if (age > kStale) {
    return FoundWrong(fmt::format("{}; its status is {:.0f} s old and must be less than {:.0f}",
                                  seen, age, kStale),
                      "it hangs: read its log, then systemctl restart allot (jobs keep training)");
  }
  return FoundFine(seen);
}

HealthFinding CheckCluster(const DaemonFacts& facts) {
  if (const auto& trouble = facts.status.trouble) {
    return FoundWrong(*trouble, "nothing is changed until the cluster answers");
  }
  const double age = facts.now - facts.status.polled_at.value_or(-kNever);
  if (age > kStale) return FoundWarn("the cluster has not answered yet", "read the daemon's log");
  return FoundFine(fmt::format("the cluster answered {:.0f} s ago", age));
}

HealthFinding CheckDecisions(const DaemonFacts& facts) {
  const DaemonStatus& status = facts.status;
  const auto waiting =
      std::count_if(status.jobs.begin(), status.jobs.end(),
                    [](const JobStatus& job) { return job.stage == JobStage::kWaiting; });
  const double age = facts.now - status.decided_at.value_or(-kNever);
  const std::string seen = status.decided_at ? fmt::format("the policy was asked {:.0f} s ago", age)
                                             : "the policy was never asked";
  const double limit = std::max(kLeastUndecided, kIntervals * status.interval);
  if (waiting == 0 || status.paused || age <= limit) return FoundFine(seen);
  return FoundWarn(
      fmt::format("{}, and {} {}", seen, Counted(waiting, "job"), waiting == 1 ? "waits" : "wait"),
      "'allot queue' shows why they wait, the daemon's log whether decisions fail");
}

HealthFinding CheckPause(const DaemonFacts& facts) {
  if (facts.status.paused) return FoundWarn("a user has paused it", "allot resume");
  if (facts.status.drained)
    return FoundWarn("a user has drained it: no job starts", "allot drain --undo");
  std::vector<std::string> drained;
  for (const NodeStatus& node : facts.status.nodes) {
    if (node.drained_by == Drainer::kAllot) drained.push_back(node.name);
  }
  if (!drained.empty()) {
    return FoundWarn("drained: " + Join(drained, ", "), "allot drain --node NAME --undo");
  }
  return FoundFine("neither paused nor drained");
}

HealthFinding CheckFairShares(const DaemonFacts& facts) {
  if (facts.status.fair_shares) return FoundFine("users have fair shares of the GPUs");
  return FoundWarn(
      "fair shares are off: only guarantees and limits of the cluster manager keep one user from "
      "taking all GPUs from the others",
      "without such limits take 'fair_share = false' out of the rules");
}

HealthFinding CheckPort(const DaemonFacts& facts) {
  if (!facts.workers_address) return FoundFine("workers are on this machine");
  const std::string& address = *facts.workers_address;
  if (address.starts_with("tcp:127.") && facts.status.nodes.size() > 1) {
    return FoundWarn(
        fmt::format("workers on {} nodes cannot reach it at {}, which is this machine's "
                    "loopback",
                    facts.status.nodes.size(), address),
        "name an address that nodes reach: parameter 'address' of --runtime");
  }
  if (!facts.workers_reach) {
    return FoundWrong(fmt::format("nothing listens at {}, where workers look for it", address),
                      "is it running? does a firewall forbid this port?");
  }
  return FoundFine("workers reach it at " + address);
}

constexpr HealthCheck<DaemonFacts> kDaemonChecks[] = {
    {"daemon.answer", CheckAnswer},          {"daemon.cluster", CheckCluster},
    {"daemon.decisions", CheckDecisions},    {"daemon.pause", CheckPause},
    {"daemon.fair_shares", CheckFairShares}, {"daemon.port", CheckPort}};

// The only check if no daemon answers.
constexpr HealthCheck<DaemonFacts> kAnswerCheck[] = {kDaemonChecks[0]};

std::optional<std::string> AddressIn(const HealthPlace& place) {
  if (!place.runtime) return std::nullopt;
  const auto file = place.state / ParseNamedParams(*place.runtime).name / "address";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  return std::string(Trim(ReadTextFile(file.string())));
}

std::vector<HealthFinding> RunDaemonGroup(const HealthPlace& place, const Params&) {
  if (const auto standby = StandbyIn(place.state)) {
    HealthFinding waits = FoundFine(standby->Text());
    waits.check = "daemon.answer";
    return {waits};
  }
  if (!CanRead(place.state)) return SkipChecks(kAnswerCheck, "see state.folder");
  if (!LockHolder(place.state / "lock")) return SkipChecks(kAnswerCheck, "see state.lock");
  DaemonFacts facts;
  facts.now = WallSeconds();
  try {
    facts.status = AskStatus({Daemon::SocketIn(place.state).string()});
    facts.workers_address = AddressIn(place);
  } catch (const std::exception& error) {
    HealthFinding none = FoundWrong(
        error.what(),
        "as the daemon's user: systemctl status allot; if it hangs, systemctl restart allot (jobs "
        "keep training)");
    none.check = "daemon.answer";
    return {none};
  }
  facts.workers_reach = facts.workers_address && Answers(*facts.workers_address);
  return CheckDaemon(facts);
}

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "daemon",
                                         .summary = "whether it answers, polls and decides",
                                         .order = 2,
                                         .run = RunDaemonGroup}));

}  // namespace

std::vector<HealthFinding> CheckDaemon(const DaemonFacts& facts) {
  return RunChecks(kDaemonChecks, facts);
}

}  // namespace allot
