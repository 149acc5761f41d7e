#pragma once
// Parts of GPUs: MIG slices, GPUs shared by time or memory. They are no GPUs here (ADR 54), and
// what has nothing else is left out and counted.

#include <string_view>

namespace allot {

// Of jobs that hold nothing else.
inline constexpr std::string_view kPartsOfGpus = "parts of GPUs only (MIG, shards, shared GPUs)";
// Of jobs and nodes that hold whole ones, too.
inline constexpr std::string_view kPartsBeside =
    "parts of GPUs (MIG) beside whole ones, not counted";

// Whether a GPU type is that of a part, as Slurm and device plugins name them: "1g.5gb",
// "a100-mig-3g.20gb", "nvidia-t4-shared".
bool NamesPartOfGpu(std::string_view type);

}  // namespace allot
