#pragma once
// Runs the cells of a sweep on threads, keeps each as soon as it is finished, and takes up what a
// folder holds already. Cells beyond a limit on the rise (sweep/limits.h) are left out. Results do
// not depend on threads, shards or interruptions.

#include <functional>

#include "metrics/sweep_results.h"
#include "sweep/definition.h"
#include "sweep/folder.h"

namespace allot {

// Runs one cell; called from several threads at once.
using RunCell = std::function<SweepCell(const CellValues& cell)>;

struct SweepOptions {
  int threads = 0;  // <= 0: all cores
  bool quiet = false;
  Shard shard{};                  // only these cells
  SweepFolder* folder = nullptr;  // null: keep nothing on disk
};

struct SweepOutcome {
  std::vector<SweepCell> cells;  // finished ones, in the order of CellsOf
  std::size_t missing = 0;       // cells of other shards
  std::size_t taken_up = 0;      // of the finished: were in the folder
  std::size_t failed = 0;        // of the finished: their runs failed, SweepCell::failed says why
  double cpu_s = 0;              // of the cells run now
};

// A cell whose run fails (RunError), such as one that can never end, has no figures; the others are
// run. Where all fail, and for other errors, the error is thrown with the cell's name before its
// message, once cells under way are finished and kept.
SweepOutcome RunSweep(const SweepDefinition& definition, const RunCell& run,
                      const SweepOptions& options);

}  // namespace allot
