#pragma once
// Records of a journal that change a LiveState, and what they carry: made here, applied by
// LiveState (live_state_handlers.cc). Shares are [[node name, GPU mask], ...].

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/allocation.h"
#include "live/runtimes/journal_text.h"
#include "live/runtimes/runtime.h"
#include "live/workers/worker_group.h"

namespace allot {

std::string_view JobStateName(JobState state);
JobState ParseJobState(std::string_view name, JobState otherwise);

// A field that may be null, for what is not finite, or not there.
double NumberIn(const JournalRecord& record, const char* key, double otherwise);

namespace record {
JournalRecord Nodes(const std::vector<RuntimeNode>& nodes);                    // "nodes"
JournalRecord Job(const RuntimeJob& asked, Seconds submit, Seconds deadline);  // "job"
RuntimeJob AskedOf(const JournalRecord& job);                                  // and back
JournalRecord Workers(const std::string& job, const std::vector<LiveWorker>& workers,
                      const std::vector<RuntimeNode>& nodes);  // "start", "found"
JournalRecord Give(const std::string& job, const std::string& configuration,
                   std::span<const NodeShare> shares, const std::vector<RuntimeNode>& nodes,
                   const std::string& why);  // "give", "placed"; configuration: text of its key
}  // namespace record

}  // namespace allot
