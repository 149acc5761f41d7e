#pragma once
// How long jobs ran that had not ended when their trace did, or at the date of a history. To count
// these as if they had ended then would make forecasts too short; to leave them out, shorter still.
//
// Such a job takes as long as some job of about its GPUs that took longer than it had lasted, drawn
// at random, longest first: a Kaplan-Meier estimate by imputation (redistribution to the right:
// Efron, Proc. 5th Berkeley Symposium IV, 1967). Where there is none, a tail of Pareto's law of
// index 2 follows. It ends at its time limit at the latest, unless it has outlived that.

#include <cstdint>
#include <span>
#include <vector>

#include "workload/workload.h"

namespace allot {

struct UnfinishedJob {
  std::size_t job = 0;  // its place among the jobs
  Seconds lasted = 0;   // so far; 0: it has not started
};

// Draws the lengths of these jobs from the others' (`lengths`, by job). O(jobs log jobs).
void DrawLengths(std::span<const Job> jobs, std::vector<UnfinishedJob> unfinished,
                 std::uint64_t seed, std::vector<Seconds>* lengths);

// By job of those submitted before `until`, where those that had not ended by then are drawn.
std::vector<Seconds> PastLengths(const Workload& trace, Seconds until, std::uint64_t seed);

// The jobs submitted before `until`, with these lengths.
Workload KnownPast(const Workload& trace, Seconds until, std::uint64_t seed);

}  // namespace allot
