#include "live/runtimes/slurm/slurm_health.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "clients/slurm/slurm_back_end.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "core/wall_clock.h"
#include "live/runtimes/slurm/cluster_claim.h"
#include "live/runtimes/slurm/lease_file.h"
#include "live/runtimes/slurm/slurm_options.h"

namespace allot {
namespace {

HealthFinding CheckVersion(const SlurmFacts& facts) {
  const SlurmSettings& slurm = facts.settings;
  const bool commands = slurm.api == "commands";
  const std::string seen = fmt::format("controller {}, {} {}, through {}", slurm.version,
                                       commands ? "programs" : "library", slurm.library, facts.way);
  if (ReleaseOf(slurm.version) == ReleaseOf(slurm.library)) return FoundFine(seen);
  if (commands) {
    return FoundWarn(seen + ": their releases should be equal",
                     "install the controller's slurm-client here, or name its folder: --runtime "
                     "slurm:programs=DIR");
  }
  return FoundWrong(seen + ": their releases must be equal",
                    "build allot on a machine that has the controller's libslurm, or --runtime "
                    "slurm:api=commands");
}

HealthFinding CheckUser(const SlurmFacts& facts) {
  const SlurmSettings& slurm = facts.settings;
  if (facts.user_id == 0) return FoundFine("root may submit for others");
  if (facts.user_id == slurm.user_id && slurm.api != "commands") {
    return FoundFine("SlurmUser " + slurm.user);
  }
  if (facts.user_id == slurm.user_id) {
    const std::string seen = fmt::format(
        "SlurmUser {}; by Slurm's programs only root may submit for others: ", slurm.user);
    const std::string advice =
        "install liballot_slurm-RELEASE.so of the controller's release (docs/deploy.md), or run as "
        "root";
    return facts.api_named ? FoundWarn(seen + "elastic jobs of others do not begin", advice)
                           : FoundWrong(seen + "the daemon does not start", advice);
  }
  return FoundWrong(fmt::format("uid {}; only SlurmUser {} ({}) and root may submit for others",
                                facts.user_id, slurm.user, slurm.user_id),
                    "run the daemon as that user: User= in the service");
}

const SlurmPartition* Find(const SlurmFacts& facts, const std::string& name) {
  const auto& all = facts.settings.partitions;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const SlurmPartition& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

HealthFinding CheckPartitions(const SlurmFacts& facts) {
  const SlurmPartition* runs = Find(facts, facts.partition);
  const SlurmPartition* waits = Find(facts, facts.queue);
  for (const auto& [found, name] :
       {std::pair(runs, &facts.partition), std::pair(waits, &facts.queue)}) {
    if (found != nullptr) continue;
    return FoundWrong(fmt::format("there is no partition '{}'", *name),
                      "add it to slurm.conf (docs/deploy.md), or name yours: --runtime "
                      "slurm:partition=...,queue=...");
  }
  const std::string seen =
      fmt::format("'{}' is {}, '{}' is {}", facts.partition, runs->up ? "up" : "down", facts.queue,
                  waits->up ? "up" : "down");
  if (!runs->up) {
    return FoundWrong(seen + ": jobs run in the first, which must be up",
                      fmt::format("scontrol update partitionname={} state=up", facts.partition));
  }
  if (waits->up) {
    return FoundWrong(
        seen + ": jobs wait in the second, which must be down, else Slurm begins them",
        fmt::format("State=DOWN in slurm.conf, or scontrol update partitionname={} "
                    "state=down",
                    facts.queue));
  }
  for (const std::string& name : facts.others) {
    const SlurmPartition* other = Find(facts, name);
    if (other != nullptr && other->up) continue;
    return FoundWrong(fmt::format("{}, '{}' {}: jobs that run there do not start", seen, name,
                                  other == nullptr ? "does not exist" : "is down"),
                      "name a partition that is up: --runtime slurm:home=...,cpus=...");
  }
  return FoundFine(seen);
}

HealthFinding CheckGpus(const SlurmFacts& facts) {
  const std::string seen =
      fmt::format("{} nodes with GPUs, {} of them up", facts.gpu_nodes, facts.gpu_nodes_up);
  if (facts.gpu_nodes == 0) {
    return FoundWrong(seen, "GresTypes=gpu, and Gres=gpu:TYPE:N for nodes in slurm.conf");
  }
  return facts.gpu_nodes_up == 0 ? FoundWarn(seen, "sinfo -R says why") : FoundFine(seen);
}

HealthFinding CheckSelect(const SlurmFacts& facts) {
  const std::string& select = facts.settings.select;
  if (select == "select/cons_tres") return FoundFine(select);
  return FoundWrong(
      fmt::format("SelectType is {}, must be select/cons_tres: jobs share nodes", select),
      "set it in slurm.conf and restart slurmctld");
}

HealthFinding CheckSubmission(const SlurmFacts& facts) {
  const std::string& plugins = facts.settings.job_submit;
  if (plugins.find("lua") != std::string::npos) return FoundFine("JobSubmitPlugins=" + plugins);
  return FoundWarn(
      fmt::format("JobSubmitPlugins is '{}', without lua: users can begin jobs beside "
                  "allot, with any options",
                  plugins),
      "JobSubmitPlugins=lua, with job_submit.lua (PREFIX/share/allot/slurm) beside slurm.conf");
}

// Of "a=1,b=2"; "": not set.
std::string_view Setting(const std::string& parameters, std::string_view name) {
  for (const std::string_view part : Split(parameters, ',')) {
    if (part == name) return "yes";
    if (part.starts_with(name) && part.substr(name.size()).starts_with("=")) {
      return part.substr(name.size() + 1);
    }
  }
  return "";
}

// What the controller waits before it begins with a worker. Measured: the end of one job until the
// next one trains on its GPU takes 1.7 s with the defaults, 0.7 s with these (docs/deploy.md).
HealthFinding CheckScheduler(const SlurmFacts& facts) {
  const SlurmSettings& slurm = facts.settings;
  const std::string& all = slurm.scheduler_parameters;
  const std::string seen =
      fmt::format("{}, SchedulerParameters={}", slurm.scheduler, all.empty() ? "(none)" : all);
  if (Setting(all, "sched_interval") == "-1") {
    return FoundWrong(seen + ": sched_interval=-1 begins no job that waits",
                      "SchedulerParameters=batch_sched_delay=0");
  }
  if (!Setting(all, "defer").empty() || !Setting(all, "defer_batch").empty()) {
    return FoundWarn(seen +
                         ": with defer a worker waits for the next round of the scheduler, up to "
                         "sched_interval (60 s)",
                     "remove defer, or sched_interval=2");
  }
  if (Setting(all, "batch_sched_delay") != "0") {
    return FoundWarn(seen + ": workers wait up to batch_sched_delay (3 s) to begin",
                     "SchedulerParameters=batch_sched_delay=0");
  }
  return FoundFine(seen);
}

HealthFinding CheckRequeue(const SlurmFacts& facts) {
  if (facts.settings.requeue) return FoundFine("JobRequeue=1");
  return FoundWarn("JobRequeue=0: jobs with resize=restart are stopped only if they say --requeue",
                   "JobRequeue=1 in slurm.conf, or tell the users");
}

HealthFinding CheckMemory(const SlurmFacts& facts) {
  const SlurmPartition* runs = Find(facts, facts.partition);
  const SlurmMemory memory = runs == nullptr ? facts.settings.memory : runs->memory;
  if (memory == SlurmMemory::kNotCounted) return FoundFine("memory is not allocated");
  if (memory == SlurmMemory::kByDefault)
    return FoundFine("jobs that ask for no memory get a default");
  return FoundWarn(
      fmt::format("'{}' allocates memory and has no default: a job that asks for none, unless it "
                  "is elastic, gets all of its nodes, and their other GPUs stay idle",
                  facts.partition),
      "JobDefaults=DefMemPerGPU=MiB, or DefMemPerCPU=MiB, in slurm.conf");
}

HealthFinding CheckOutput(const SlurmFacts& facts) {
  if (facts.settings.appends_output) return FoundFine("JobFileAppend=1");
  return FoundWarn(
      "JobFileAppend=0: a job that is resized by a restart loses the output of its earlier runs, "
      "unless it says --open-mode=append",
      "JobFileAppend=1 in slurm.conf");
}

HealthFinding CheckKillWait(const SlurmFacts& facts) {
  constexpr Seconds kDefault = 30;
  const std::string seen = fmt::format("KillWait={}", facts.settings.kill_wait);
  if (facts.settings.kill_wait >= kDefault) return FoundFine(seen);
  return FoundWarn(seen + ": so many seconds has a job that is resized by a restart to save",
                   "KillWait=30, or more, in slurm.conf");
}

HealthFinding CheckPort(const SlurmFacts& facts) {
  if (facts.port == 0) return FoundFine("the daemon has not chosen a port yet");
  const auto [first, last] = facts.ephemeral;
  const std::string seen = fmt::format("workers reach the daemon at port {}", facts.port);
  if (facts.port < first || facts.port > last) return FoundFine(seen);
  return FoundWarn(
      fmt::format("{}: while it is away, the system may give it to any other program ({} to {})",
                  seen, first, last),
      "name a port outside of these: --runtime slurm:address=HOST:PORT");
}

HealthFinding CheckAccounting(const SlurmFacts& facts) {
  const std::string& accounting = facts.settings.accounting;
  if (!accounting.empty() && accounting != "accounting_storage/none") return FoundFine(accounting);
  return FoundWarn(
      "no accounting: Slurm knows no limits of users and no fair share, sacct has nothing",
      "AccountingStorageType=accounting_storage/slurmdbd, if you want these");
}

HealthFinding CheckClaim(const SlurmFacts& facts) {
  const std::string& folder = facts.settings.state_folder;
  if (!facts.may_not_open.empty()) {
    return FoundWrong(facts.may_not_open, fmt::format("chown {} {}/allot.*, or serve as that user",
                                                      facts.settings.user, folder));
  }
  if (facts.may_claim) {
    const std::string& holder = facts.in_charge;
    return FoundFine(fmt::format(
        "StateSaveLocation {} can be locked; {}", folder,
        holder.empty()
            ? "no daemon is in charge"
            : fmt::format("{} is in charge, as it said {:.0f} s ago", holder, facts.renewed_ago)));
  }
  return FoundWarn(
      fmt::format("StateSaveLocation {} cannot be written from here: a second daemon would "
                  "not be noticed",
                  folder),
      "run on the controller's machine; ReadWritePaths= of the service must name it");
}

HealthFinding CheckLauncher(const SlurmFacts& facts) {
  if (::access(facts.launcher.c_str(), X_OK) == 0) return FoundFine(facts.launcher.string());
  return FoundWrong(fmt::format("{} is not a program on this machine", facts.launcher.string()),
                    "install allot-elastic at the same path on all nodes, or name it: --runtime "
                    "slurm:launcher=PATH");
}

constexpr HealthCheck<SlurmFacts> kSlurmChecks[] = {
    {"slurm.version", CheckVersion},       {"slurm.user", CheckUser},
    {"slurm.partitions", CheckPartitions}, {"slurm.gpus", CheckGpus},
    {"slurm.select", CheckSelect},         {"slurm.memory", CheckMemory},
    {"slurm.submission", CheckSubmission}, {"slurm.scheduler", CheckScheduler},
    {"slurm.requeue", CheckRequeue},       {"slurm.output", CheckOutput},
    {"slurm.kill_wait", CheckKillWait},    {"slurm.accounting", CheckAccounting},
    {"slurm.claim", CheckClaim},           {"slurm.port", CheckPort},
    {"slurm.launcher", CheckLauncher}};

// Of "tcp:127.0.0.1:7171" in a file of the daemon's; 0 where there is none.
int PortIn(const std::filesystem::path& file) try {
  const std::string text = ReadTextFile(file.string());
  return static_cast<int>(ParseInteger(Trim(text.substr(text.rfind(':') + 1))).value_or(0));
} catch (const Error&) {
  return 0;
}

std::pair<int, int> EphemeralPorts() {
  std::pair<int, int> ports = SlurmFacts().ephemeral;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> ports.first >> ports.second;
  return ports;
}

std::vector<HealthFinding> RunSlurmGroup(const HealthPlace& place, const Params& params) {
  SlurmFacts facts;
  try {
    SlurmClient client(SlurmAccessFrom(params), true);
    facts.settings = client.Settings();
    facts.way = client.way();
    facts.api_named = params.Text("api") != "auto";
    for (const SlurmNode& node : client.TakeSnapshot().nodes) {
      if (node.gres.find("gpu") == std::string::npos) continue;
      ++facts.gpu_nodes;
      facts.gpu_nodes_up += node.state.IsUsableNow() ? 1 : 0;
    }
  } catch (const std::exception& error) {
    HealthFinding none =
        FoundWrong(error.what(), "scontrol ping; is SLURM_CONF right? does munge run?");
    none.check = "slurm.controller";
    return {none};
  }
  facts.partition = params.Text("partition");
  facts.queue = params.Text("queue");
  for (const char* other : {"home", "cpus"}) {
    if (!params.Text(other).empty()) facts.others.push_back(params.Text(other));
  }
  facts.launcher = LauncherFrom(params);
  facts.user_id = ::geteuid();
  facts.port = PortIn(place.state / "slurm" / "address");
  facts.ephemeral = EphemeralPorts();
  const std::filesystem::path claims = facts.settings.state_folder;
  facts.may_claim = ClusterClaim::MayBeIn(claims);
  if (facts.may_claim) facts.may_not_open = ClusterClaim::MayOpenAllIn(claims).message();
  if (facts.may_claim && facts.may_not_open.empty()) {
    const Lease lease = ReadLease(claims).lease;
    facts.in_charge = ShownHolder(lease.holder);
    const auto renewed = static_cast<double>(ParseInteger(lease.renewed).value_or(0));
    facts.renewed_ago = std::max(0.0, WallSeconds() - renewed);
  }
  return CheckSlurm(facts);
}

ALLOT_REGISTER(HealthGroup, (HealthGroup{.id = "slurm",
                                         .summary = "the controller, and slurm.conf",
                                         .order = 3,
                                         .runtime = "slurm",
                                         .run = RunSlurmGroup}));

}  // namespace

std::vector<HealthFinding> CheckSlurm(const SlurmFacts& facts) {
  return RunChecks(kSlurmChecks, facts);
}

}  // namespace allot
