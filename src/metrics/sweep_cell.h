#pragma once
// What a cell of a sweep keeps of its run beside the summary.

#include "metrics/summary.h"
#include "metrics/sweep_results.h"

namespace allot {

// Fills in GPU use while jobs arrive, hidden jobs and distributions of a cell whose summary and
// cut_off are there. A cell that was cut off knows no JCT: those of the jobs that ended would be
// too short. Needs RunFacts::workload.
void AddDistributions(const RunFacts& facts, SweepCell* cell);

}  // namespace allot
