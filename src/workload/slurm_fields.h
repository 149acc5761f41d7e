#pragma once
// Values as Slurm's commands print them: times, lengths, and GPUs in lists of resources. For the
// readers of sacct's and sinfo's output.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/job.h"

namespace allot {

// Whether Slurm says that there is no value: "", "Unknown", "None", "N/A", "(null)", ...
bool IsSlurmUnset(std::string_view text);

// "2026-11-01T10:00:00", the same with a space -> seconds since 1970, without a zone; or seconds
// since 1970 (SLURM_TIME_FORMAT=%s), from 1989 on: 20261101 is none. nullopt for anything else.
std::optional<std::int64_t> ParseSlurmTime(std::string_view text);

// "[D-]HH:MM:SS[.micro]", "MM:SS[.micro]" -> seconds; nullopt for anything else.
std::optional<Seconds> ParseSlurmSpan(std::string_view text);

// "[5-9%2]", "[1,3-7:2]" -> the numbers of an array's tasks; those after "..." are not known.
// nullopt for anything else, and for more tasks than an array of Slurm can have.
std::optional<std::vector<std::int64_t>> ParseArrayTasks(std::string_view text);

// The GPUs of a list of resources.
struct SlurmGpus {
  struct Type {
    std::string name;  // in lower case, as Slurm's database keeps it; "" where none is named
    std::int64_t count = 0;
    bool operator==(const Type&) const = default;
  };
  std::int64_t count = 0;   // whole ones
  std::vector<Type> types;  // in the order named; where only a sum is named: one without a name
  std::int64_t slices = 0;  // of types that are parts of GPUs (gpu_parts.h)
  bool shards = false;      // gres/shard is among the resources
  bool cut = false;         // the text ends where a count or a bracket is still to come
};

// TRES, "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1": a sum stands beside its parts.
// nullopt where a count of GPUs is no whole number >= 0.
std::optional<SlurmGpus> ParseTresGpus(std::string_view text);

// CPUs of TRES: 8 of "cpu=8,gres/gpu=4"; 0 where none are named.
std::int64_t TresCpus(std::string_view text);

// GRES, "gpu:a100:4(S:0-1),gpu:2,shard:8": parts only; "gpu" and "gpu:a100" are one. Counts may end
// in K, M. Whether "gpu:a100" is one GPU or cut off, as a column of sinfo can be, depends on where
// it stands: SlurmGpus::cut.
std::optional<SlurmGpus> ParseGresGpus(std::string_view text);

}  // namespace allot
