#pragma once
// Modules with libslurm, each for one release of Slurm: liballot_slurm-22.05.so beside the program
// as it was built, or where it is installed (PREFIX/lib/allot). The choice of a back end looks for
// them (slurm_back_end.h).

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "clients/slurm/slurm_back_end.h"
#include "core/error.h"
#include "core/types.h"

namespace allot {

struct SlurmModule {
  std::filesystem::path path;
  std::string release;  // "22.05"
};

// Those that are there, whether they can be loaded or not.
std::vector<SlurmModule> FindSlurmModules();

// Refused where others than root and this user may have written it or its folder, where it is of
// another build of allot, or its libslurm or a slurm.conf is not here. It stays loaded for good.
Status OpenSlurmModule(const SlurmModule& module, Seconds patience,
                       std::unique_ptr<SlurmBackEnd>* back_end);

}  // namespace allot

// What a module exports: the version of allot that it was built with, and its back end.
extern "C" {
[[gnu::visibility("default")]] const char* allot_slurm_build();
[[gnu::visibility("default")]] allot::SlurmBackEnd* allot_slurm_open(double patience);
}
