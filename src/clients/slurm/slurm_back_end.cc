#include "clients/slurm/slurm_back_end.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "clients/slurm/slurm_commands.h"
#include "clients/slurm/slurm_module.h"
#include "clients/slurm/slurm_program.h"

namespace allot {
namespace {

// Through one of the modules; Refused, with all reasons, where none fits. `programs`: the release
// of Slurm's programs, where it is known: a libslurm that reads a slurm.conf of another one may end
// the process.
Status OpenModule(const SlurmAccess& access, const std::string& programs, OpenedSlurm* opened) {
  std::vector<std::string> reasons;
  for (const SlurmModule& module : FindSlurmModules()) {
    const std::string name = module.path.filename().string();
    if (!programs.empty() && module.release != programs) {
      reasons.push_back(
          fmt::format("{} is for Slurm {}, here is {}", name, module.release, programs));
      continue;
    }
    Status done = OpenSlurmModule(module, access.patience, &opened->back_end);
    SlurmSettings settings;
    if (done.ok()) done = opened->back_end->LoadSettings(&settings);
    if (done.ok() && ReleaseOf(settings.version) != module.release) {
      done = Status::Refused("it is for Slurm {}, the controller is {}", module.release,
                             settings.version);
    }
    if (done.ok()) {
      opened->why = fmt::format("libslurm: {} fits the controller, {}", name, settings.version);
      return done;
    }
    opened->back_end.reset();
    reasons.push_back(fmt::format("{}: {}", name, done.message()));
  }
  if (reasons.empty()) return Status::Refused("no module liballot_slurm-RELEASE.so is installed");
  std::string all;
  for (const std::string& reason : reasons) all += (all.empty() ? "" : "; ") + reason;
  return Status::Refused("{}", all);
}

}  // namespace

std::string ReleaseOf(const std::string& version) {
  return version.substr(0, version.find('.', version.find('.') + 1));
}

OpenedSlurm OpenSlurm(const SlurmAccess& access) {
  const bool any = access.api == "auto";
  if (!any && access.api != "libslurm" && access.api != "commands") {
    throw UsageError("slurm: 'api' must be auto, libslurm or commands, got '{}'", access.api);
  }
  // No way goes on without it, and Slurm's programs try for half a minute.
  const char* conf = std::getenv("SLURM_CONF");
  std::error_code error;
  if (conf != nullptr && !std::filesystem::exists(conf, error)) {
    throw RunError("slurm: SLURM_CONF must name a slurm.conf, there is none at {}", conf);
  }
  SlurmPrograms programs;
  const Status found = FindSlurmPrograms(access.programs, &programs);
  constexpr Seconds kToStart = 30;  // a program on a machine that is busy
  const std::string version = found.ok() ? VersionOf(programs, kToStart) : "";

  OpenedSlurm opened;
  opened.sacctmgr = FindSlurmProgram(access.programs, "sacctmgr");
  Status module = Status::Ok();
  if (access.api != "commands") {
    module = OpenModule(access, ReleaseOf(version), &opened);
    if (module.ok()) return opened;
    if (!any) throw RunError("slurm: there is no way by libslurm: {}", module.message());
  }
  if (!found.ok()) {
    throw RunError("slurm: there is no way to the controller: {}{}{}", found.message(),
                   any ? "; " : "", module.message());
  }
  opened.back_end = OpenSlurmCommands(std::move(programs), access.patience);
  opened.no_module = module.message();
  opened.why = fmt::format("commands: Slurm's programs, {}{}{}",
                           version.empty() ? "of unknown version" : version,
                           any ? ", for " : ", as named", module.message());
  return opened;
}

}  // namespace allot
