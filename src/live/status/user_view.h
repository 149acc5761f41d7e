#pragma once
// What a user may see of a daemon's status: nodes, GPUs, and their own jobs. Rows of other users
// show how full the cluster is and who is before whom, but nothing that their owners wrote.

#include <string_view>

#include "live/status/quote.h"
#include "live/status/status.h"

namespace allot {

inline constexpr std::string_view kOthersJob = "(other)";

// The status for `user`, whose jobs are those with this name as JobStatus::user. Of the others' it
// keeps stage, GPUs, types, nodes and times; their name is kOthersJob. O(jobs).
DaemonStatus ViewFor(std::string_view user, const DaemonStatus& status);

// The quote without names of other users: their jobs are together those of kOthersJob.
Quote ViewFor(std::string_view user, Quote quote);

}  // namespace allot
