#include "live/runtimes/slurm/slurm_options.h"

#include "core/error.h"

namespace allot {
namespace {

bool PrioritiesAreSlurms(const std::string& whose) {
  if (whose != "nice" && whose != "slurm") {
    throw UsageError("slurm: 'priority' must be nice or slurm, got '{}'", whose);
  }
  return whose == "slurm";
}

// Workers go to the addresses that they were given when they began.
void RequireAllAddresses(const std::string& address, bool standby) {
  if (!standby || address.find('|') != std::string::npos) return;
  throw UsageError(
      "slurm: with --standby 'address' must name all machines that may be in charge, "
      "HOST:PORT|HOST:PORT, got '{}': workers that know one address do not find another daemon, "
      "and all are replaced",
      address);
}

// allot-elastic beside this program, where nodes see the same folders as this machine.
std::string DefaultLauncher() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / "allot-elastic").string();
}

}  // namespace

std::vector<ParamSpec> SlurmParams() {
  return {{"partition", "main", "partition that jobs run in"},
          {"queue", "elastic", "partition in which they wait; its state is DOWN"},
          {"launcher", "", "path of allot-elastic on nodes (default: beside this program)"},
          {"address", "",
           "of this machine, for nodes (default: the controller's, also for :PORT); of several "
           "daemons HOST:PORT|HOST:PORT"},
          {"cpus", "", "partition that jobs without GPUs run in (default: as other jobs)"},
          {"home", "", "partition that the scripts of elastic jobs run in (default: as jobs)"},
          {"priority", "nice", "of jobs: 'nice', as users say, or 'slurm', as Slurm computes it"},
          {"timeout", "2", "seconds to wait for the controller's answer", 0.1, 60},
          {"api", "auto", "libslurm, commands (Slurm's programs), or auto: libslurm where it fits"},
          {"programs", "", "folder of Slurm's programs (default: as on PATH)"}};
}

SlurmOptions SlurmOptionsFrom(const Params& params, const RuntimeOptions& options) {
  RequireAllAddresses(params.Text("address"), options.standby);
  return {.partition = params.Text("partition"),
          .queue = params.Text("queue"),
          .launcher = LauncherFrom(params),
          .address = params.Text("address"),
          .access = SlurmAccessFrom(params),
          .dry_run = options.dry_run,
          .standby = options.standby,
          .on_wait = options.on_wait,
          .cpu_partition = params.Text("cpus"),
          .home_partition = params.Text("home"),
          .slurm_priority = PrioritiesAreSlurms(params.Text("priority")),
          .state = options.state / "slurm"};
}

SlurmAccess SlurmAccessFrom(const Params& params) {
  return {.api = params.Text("api"),
          .programs = params.Text("programs"),
          .patience = params.Number("timeout")};
}

std::string LauncherFrom(const Params& params) {
  const std::string& named = params.Text("launcher");
  return named.empty() ? DefaultLauncher() : named;
}

}  // namespace allot
