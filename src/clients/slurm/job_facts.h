#pragma once
// What Slurm's facts about a job mean. JSON and libslurm bring the fields of a record as the
// controller says them; what becomes of the job is decided here, once for both.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/slurm/job_state.h"
#include "clients/slurm/slurm_records.h"

namespace allot {

// What they refer to outlives them.
struct SlurmJobFacts {
  SlurmJobStates states{};
  std::uint64_t exit_code = 0;
  std::uint64_t exit_signal = 0;
  std::string_view reason{};                // for which it waits: "Resources", "None"
  std::string_view dependency{};            // "afterok:41"
  std::optional<std::uint64_t> priority{};  // nullopt: not said
  std::string_view tasks{};                 // of an array: "0-2,4%2"
  // TRES that it asks for by job, by task and by socket.
  std::array<std::string_view, 3> asked_otherwise{};
  std::vector<std::string> hosts{};  // allocated
  bool whole_nodes = false;          // it has all of these
  std::vector<std::string> gres{};   // allocated, by host
};

// Sets the fields of `job` that follow: its state, its reasons, whether it is on hold, its tasks,
// its GPUs by node. Call it after `id` and `task` are set as the record has them.
void ReadJobFacts(const SlurmJobFacts& facts, SlurmJob* job);

}  // namespace allot
