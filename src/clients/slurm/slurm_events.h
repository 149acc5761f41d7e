#pragma once
// What Slurm's accounting knows of nodes that were away, by `sacctmgr show event`: for both back
// ends, because libslurm does not have it.

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/slurm/node_state.h"
#include "core/error.h"
#include "core/types.h"

namespace allot {

struct SlurmNodeEvent {
  std::string node;
  std::time_t begin = 0;
  std::optional<std::time_t> end{};  // unset: it goes on
  SlurmNodeState state;
  std::string reason{};

  // The node failed, and nobody wanted it to be away.
  bool IsFailure() const;
};

// Of `sacctmgr --noheader --parsable2 show event event=node
// format=nodename,timestart,timeend,state,reason` with SLURM_TIME_FORMAT=%s. Rows that say
// otherwise are left out.
std::vector<SlurmNodeEvent> ReadEventsText(std::string_view text);

// Of this cluster, those of so many days. Refused where there is no accounting, with Slurm's words.
Status LoadNodeEvents(const std::string& sacctmgr, int days, Seconds patience,
                      std::vector<SlurmNodeEvent>* events);

}  // namespace allot
