#pragma once
// What Slurm's commands say of a node. Used by the *_cluster_format.cc files of Slurm only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clients/slurm/node_state.h"
#include "cluster/node_list.h"

namespace allot {

// How to make a file that is read.
inline constexpr std::string_view kSinfoAdvice =
    "make one with: sinfo -N -o \"%N %G %c %m %t\" > nodes.txt, or scontrol show node > nodes.txt; "
    "Slurm knows GPUs where slurm.conf has GresTypes=gpu and gres.conf lists them";

// Why the cluster does not have the node now (clients/slurm/node_state.h); "" where it has it.
// States: "idle", "mix", "down*", "drng", "IDLE+DRAIN", "IDLE+CLOUD+POWERED_DOWN".
std::string AwayBecause(std::string_view text);
std::string AwayBecause(const SlurmNodeState& state, std::string_view text);

// Sets the GPUs of GRES, "gpu:a100:4(S:0-1)". RowError. In a table, whose columns may be cut, also
// for a type without its number: "gpu:a100" may have been gpu:a100:8.
enum class GresFrom { kRecord, kTable };
void SetGres(std::string_view gres, GresFrom from, const std::string& place, ListedNode* node);

// "64", "64+" of nodes that differ; 0 where it says nothing. RowError.
std::int64_t NodeCount(std::string_view what, std::string_view text, const std::string& place);

}  // namespace allot
