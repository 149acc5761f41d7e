#pragma once
// A state as records: what a journal begins with that was made anew (Journal::Renew). LiveState
// applies them like any others. What the runtime shows again is not in them.

#include <functional>
#include <span>

#include "live/state/live_state.h"

namespace allot {

// Tells the records by which an empty state becomes this one, in turn: of many jobs all of them
// together are many megabytes. Job indices are given anew. `origin`: of the run's clock. O(jobs
// that are known).
void TellState(const LiveState& state, double origin, Seconds now,
               const std::function<void(const JournalRecord&)>& tell);

// Their kinds "kept", of a job that a record "job" named before, and "learned". Called by
// LiveState.
void ResumeJob(const JournalRecord& kept, const LiveState& state, std::span<const NodeShare> shares,
               JobTable* job_table, LiveJob* job);
void Learn(const JournalRecord& learned, JobTable* job_table);
// Of a record "batch", or of what was learned. DataError where no worker may say so.
BatchLimits ReadLimits(const JournalRecord& record);

}  // namespace allot
