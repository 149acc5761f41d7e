#pragma once
// What Slurm's words mean. A back end brings the fields of a record as the controller says them,
// and what they say of a job or a node is decided here, once for all of them. Slurm's programs
// print these words; libslurm has them as numbers, whose names they are.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/slurm/slurm_records.h"

namespace allot {

// Of one job; what they refer to outlives them.
struct SlurmJobWords {
  std::vector<std::string_view> state;                // "FAILED", "COMPLETING"; at least one
  std::uint64_t exit_code = 0;                        // of its end
  std::uint64_t exit_signal = 0;                      // the same
  std::string_view reason{};                          // for which it waits: "Resources", "None"
  std::string_view dependency{};                      // "afterok:41"
  std::optional<std::uint64_t> priority{};            // nullopt: not said
  std::string_view tasks{};                           // of an array: "0-2,4%2"
  std::array<std::string_view, 3> asked_otherwise{};  // TRES a job, a task, a socket
  std::vector<std::string> hosts{};                   // that it has
  bool whole_nodes = false;                           // it has
  std::vector<std::string> gres{};                    // by host
};

// Sets the fields of `job` that follow: its state and what becomes of it, its reasons, whether it
// is on hold, its tasks, its GPUs by node. After `id` and `task`, as the record has them.
void ReadWords(const SlurmJobWords& words, SlurmJob* job);

// Of one node: "IDLE", "DRAIN".
void ReadWords(const std::vector<std::string_view>& state, SlurmNode* node);

// A limit of TRES, as SlurmLimits has it.
int LimitOf(std::uint64_t tres);

}  // namespace allot
