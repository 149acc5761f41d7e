#pragma once
// A state as records: what a journal begins with that was made anew (Journal::Renew). LiveState
// applies them like any others. What the runtime shows again is not in them.

#include <span>
#include <vector>

#include "live/live_state.h"

namespace allot {

// By which an empty state becomes this one. Job indices are given anew. `origin`: of the run's
// clock. O(jobs that are known).
std::vector<JournalRecord> StateRecords(const LiveState& state, double origin, Seconds now);

// Their kinds "kept", of a job that a record "job" named before, and "learned". Called by
// LiveState.
void ResumeJob(const JournalRecord& kept, const LiveState& state, std::span<const NodeShare> shares,
               JobTable* job_table, LiveJob* job);
void Learn(const JournalRecord& learned, JobTable* job_table);

}  // namespace allot
