#pragma once
// Jobs and nodes as Slurm's programs print them with --json, read into the records of
// slurm_records.h. The shape differs by release, and one reader takes all: a number is plain
// (22.05) or {set, infinite, number}; a state is one word or a list of words; some lists are texts.
//
// Users choose names, comments and folders, of any bytes: each reaches its own field and no other.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "clients/slurm/slurm_records.h"

namespace allot {

// Of `squeue --json`. DataError where it is no such text, or a job lacks what all releases say.
std::vector<SlurmJob> ReadJobsJson(std::string_view text);

// A node of these, or of the lists that `sinfo --json` of later releases prints of nodes that are
// alike; "" where it has no name.
SlurmNode ReadNodeJson(const nlohmann::json& record);

// Of `sinfo --json` (22.05), `scontrol show nodes --json` (later).
std::vector<SlurmNode> ReadNodesJson(std::string_view text);

}  // namespace allot
