#pragma once
// How far a sweep goes: raises the rate (or the load) until the cluster is full or jobs take too
// long, and cuts off cells that do not end. What Gavel's users know as the automatic sweep.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/sweep_results.h"
#include "sweep/definition.h"

namespace allot {

// Keys of SweepDefinition::limits.
//   until-utilisation  0.95   no higher rate after one with this GPU use, mean over the seeds; GPU
//                             use while counted jobs arrive
//   until-jct          10d    ... with this average JCT
//   cutoff             2000h  a cell ends at this simulated time; it then has no average JCT, and
//                             no higher rate is run
inline constexpr const char* kLimitKeys[] = {"until-utilisation", "until-jct", "cutoff"};

struct SweepLimits {
  double use = kNever;
  Seconds jct = kNever;
  Seconds cutoff = kNever;
  // Whether cells wait for those of lower rates.
  bool raise() const { return use < kNever || jct < kNever; }
};

// UsageError naming `where`, key and value: no such number, and limits on a rise of nothing.
void CheckLimits(const SweepDefinition& definition, std::string_view where);
SweepLimits LimitsOf(const SweepDefinition& definition);

// Cells that depend on one another: a step is run where no earlier one reached a limit. Indices
// into `cells`, which are those of CellsOf. Without a limit on the rise each cell is a chain.
struct SweepChain {
  std::vector<std::vector<std::size_t>> steps;
};
std::vector<SweepChain> ChainsOf(const SweepDefinition& definition,
                                 const std::vector<CellValues>& cells);

// Whether the cells of a step, all of its seeds, reach a limit.
bool Reaches(const SweepLimits& limits, std::span<const SweepCell* const> step);

// For people: where the rise ended, and what a window leaves out. From finished cells alone.
std::vector<std::string> SweepNotes(const SweepDefinition& definition,
                                    const std::vector<SweepCell>& cells);

}  // namespace allot
