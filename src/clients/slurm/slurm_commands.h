#pragma once
// The back end over Slurm's own programs: squeue, sinfo, scontrol, sbatch, scancel of whatever
// release is installed, from 22.05 on. It needs no libslurm, and no fit between the releases of the
// programs and of allot. OpenSlurm makes it.
//
// Only root may submit for others with it: sbatch --uid refuses everybody else. A poll costs more
// than through libslurm: docs/deploy.md has the figures.

#include <filesystem>
#include <memory>
#include <string>

#include "clients/slurm/slurm_back_end.h"

namespace allot {

// Paths of Slurm's programs.
struct SlurmPrograms {
  std::string squeue;
  std::string sinfo;
  std::string scontrol;
  std::string sbatch;
  std::string scancel;
};

// In this folder, or on PATH where it is "". Refused: names what is not there.
Status FindSlurmPrograms(const std::filesystem::path& folder, SlurmPrograms* programs);

// "22.05.8", as the programs say themselves; "": they do not.
std::string VersionOf(const SlurmPrograms& programs, Seconds patience);

std::unique_ptr<SlurmBackEnd> OpenSlurmCommands(SlurmPrograms programs, Seconds patience);

// The words of sbatch for a worker, which is held until it has its tag; for tests.
std::vector<std::string> SubmissionWords(const std::string& sbatch,
                                         const SlurmSubmission& submission);

}  // namespace allot
