#pragma once
// The parameters of the Slurm runtime (`--runtime slurm:KEY=VALUE,...`), and the settings that
// follow from them. Does not call Slurm.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "live/runtimes/runtime.h"
#include "live/runtimes/slurm/slurm_client.h"

namespace allot {

struct SlurmOptions {
  std::string partition = "main";  // where jobs run
  std::string queue = "elastic";   // where they wait; down
  std::string launcher;            // allot-elastic, as nodes find it
  std::string address;   // of this machine for nodes, or of all daemons (hub_address.h); "": the
                         // controller's
  SlurmAccess access;    // the way to the controller
  bool dry_run = false;  // Slurm is only read
  bool standby = false;  // waits until no other daemon is in charge
  std::function<void(const std::string& why)> on_wait{};  // RuntimeOptions
  std::string cpu_partition;    // where jobs without GPUs run; "": `partition`
  std::string home_partition;   // where scripts of elastic jobs run; "": `partition`
  bool slurm_priority = false;  // priorities are Slurm's own, not --nice
  std::filesystem::path state;  // folder of our own files
};

std::vector<ParamSpec> SlurmParams();
// UsageError naming the parameter.
SlurmOptions SlurmOptionsFrom(const Params& params, const RuntimeOptions& options);
// Of these, how the controller is reached, and `launcher`: for who needs no more.
SlurmAccess SlurmAccessFrom(const Params& params);
std::string LauncherFrom(const Params& params);

}  // namespace allot
