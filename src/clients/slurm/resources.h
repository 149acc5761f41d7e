#pragma once
// GPUs in lists of resources as Slurm writes them: TRES ("cpu=8,gres/gpu:a100=4,gres/gpu=4") and
// GRES ("gpu:a100:4(S:0-1)"). Trace readers and node lists count whole GPUs; the Slurm runtime
// gives out GPUs of every type, those of MIG included, because Slurm does, too.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"

namespace allot {

struct SlurmGpuType {
  std::string name;    // as written, which requests must repeat; "" where none is named
  GpuCount count = 0;  // > 0
  bool part = false;   // of GPUs that are divided (core/gpu_parts.h)
  bool operator==(const SlurmGpuType&) const = default;
};

struct SlurmGpus {
  std::int64_t count = 0;           // whole ones
  std::int64_t slices = 0;          // parts of GPUs that are a type
  std::vector<SlurmGpuType> types;  // in the order named, each once whatever its case
  bool shards = false;              // gres/shard is among the resources
  bool cut = false;                 // the text ends where a count or a bracket is still to come
};

// A sum (gres/gpu=4) stands beside its parts. nullopt where a count of GPUs is no whole number from
// 0 to a million.
std::optional<SlurmGpus> ParseTresGpus(std::string_view text);

// CPUs of TRES: 8 of "cpu=8,gres/gpu=4"; 0 where none are named.
std::int64_t TresCpus(std::string_view text);

// Memory of TRES in MiB: 512 of "cpu=1,mem=512M"; 0 where none is named.
std::uint64_t TresMemory(std::string_view text);

// "gpu:a100:4(S:0-1),gpu:2,shard:8": parts only; "gpu" and "gpu:a100" are one. Counts may end in K,
// M. With "gres:" (22.05) or "gres/" (later) before each, too. Whether "gpu:a100" is one GPU or cut
// off, as a column of sinfo can be, depends on where it stands: SlurmGpus::cut. nullopt as above.
std::optional<SlurmGpus> ParseGresGpus(std::string_view text);

// The same of a GRES that Slurm itself has checked; what is malformed of it counts as none.
std::vector<SlurmGpuType> GpuTypesOfGres(std::string_view text);

// A request: "gres:gpu:v100:4", "gres:gpu:4" where the type is "".
inline constexpr std::string_view kGresPrefix = "gres:";
std::string GresRequest(GpuCount gpus, std::string_view type);

// A limit of TRES as a number, as Slurm's records have it; nullopt: none.
std::optional<int> GpuLimitOf(std::uint64_t tres);
// A limit in text, "cpu=N(0),gres/gpu=4(2)", of which 2 are in use -> 4; nullopt: GPUs have none.
std::optional<int> GpuLimitIn(std::string_view tres);

}  // namespace allot
