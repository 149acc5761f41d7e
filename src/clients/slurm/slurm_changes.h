#pragma once
// What Slurm is asked to start and to change, in one form for all its releases: each back end
// writes these (slurm_back_end.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace allot {

// A batch job of one task on one node.
struct SlurmSubmission {
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string name{};
  std::string comment{};  // for the daemon (AdminComment) and for people
  std::string script{};
  std::string partition{};
  std::string node{};
  std::string gres{};  // resources.h GresRequest
  std::string work_dir{};
  std::string output{};
  std::string account{};
  std::string qos{};
  std::uint32_t time_limit = 0;
  std::uint16_t cpus_per_task = 0;
  std::uint64_t memory = 0;
  std::vector<std::string> environment{};  // "NAME=value"
};

// The priority of what is to begin on GPUs that are free for it (ADR 71): above all that Slurm
// computes, below the values that have a meaning.
inline constexpr std::uint32_t kBeforeAll = 0xffff0000;

// One task on one core, with this memory; 0: with what the job asked for.
struct SlurmOneCore {
  std::uint64_t memory_mib = 0;
  bool any_features = false;  // on nodes with any of them
};

// What is not set stays as it is.
struct SlurmChange {
  std::uint32_t id = 0;
  std::string partition{};
  std::string nodes{};  // exactly these; with `node_count`
  std::uint32_t node_count = 0;
  std::string gres{};  // a node; with the type that the job was submitted with
  std::string admin_comment{};
  std::uint32_t time_limit = 0;            // minutes
  std::optional<SlurmOneCore> one_core{};  // of a job that waits
  bool first = false;                      // before all others that wait, as Slurm orders them
  bool release = false;                    // with the priority that Slurm computes
  // >= 0; nothing else changes with it. With the number of an array it is for all its tasks,
  // running ones included.
  std::optional<std::uint32_t> nice{};
};

}  // namespace allot
