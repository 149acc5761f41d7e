#pragma once
// How Slurm's controller is asked, and changed: by Slurm's own programs (slurm_commands.h), or by
// libslurm, which is in a module beside the program (slurm_module.h), for it fits one release of
// Slurm. One thread calls it.
//
// No call lasts longer than the patience that it was opened with, at begin half a minute; a poll by
// programs may take five times as long as the last one. A controller that does not answer is a
// refusal, and what was asked for may still happen.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "clients/slurm/slurm_changes.h"
#include "clients/slurm/slurm_records.h"
#include "core/error.h"
#include "core/types.h"

namespace allot {

// By which way, and for how long the controller may think.
struct SlurmAccess {
  std::string api = "auto";          // "libslurm", "commands"; "auto": the first that fits
  std::filesystem::path programs{};  // folder of Slurm's; "": on PATH
  Seconds patience = 2;
};

class SlurmBackEnd {
 public:
  SlurmBackEnd() = default;
  virtual ~SlurmBackEnd() = default;
  SlurmBackEnd(const SlurmBackEnd&) = delete;
  SlurmBackEnd& operator=(const SlurmBackEnd&) = delete;

  // `snapshot`: the one before, with which it shares what did not change; refused, it stays.
  virtual Status Load(SlurmSnapshot* snapshot) = 0;
  virtual Status LoadSettings(SlurmSettings* settings) = 0;

  // Refused with Slurm's words, or because no answer came in time.
  virtual Status Submit(const SlurmSubmission& submission, std::uint32_t* id) = 0;
  virtual Status Change(const SlurmChange& change) = 0;
  virtual Status Requeue(std::uint32_t id) = 0;
  virtual Status Cancel(const std::string& job) = 0;
  virtual Status Split(const std::string& tasks, const std::string& partition) = 0;
};

struct OpenedSlurm {
  std::unique_ptr<SlurmBackEnd> back_end;
  std::string why{};                      // this one, for people
  std::optional<std::string> sacctmgr{};  // path of the program that asks Slurm's accounting
  std::string no_module{};  // why no libslurm, where Slurm's programs take its place; "": as named
};

// RunError where the one that `access` names cannot be had: says what is missing.
OpenedSlurm OpenSlurm(const SlurmAccess& access);

// "22.05.8" -> "22.05": what two parts of Slurm must agree in.
std::string ReleaseOf(const std::string& version);

}  // namespace allot
