#include "sweep/run_sweep.h"

#include <mutex>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/parallel.h"
#include "core/progress.h"

namespace allot {
namespace {

SweepCell RunNamed(const SweepDefinition& definition, const RunCell& run,
                   const CellValues& values) {
  try {
    SweepCell cell = run(values);
    cell.values = values;
    return cell;
  } catch (const Error& error) {
    if (error.code() == ExitCode::kInterrupted) throw;
    throw Error(error.code(), fmt::format("{}: {}", CellText(definition, values), error.what()));
  }
}

}  // namespace

SweepOutcome RunSweep(const SweepDefinition& definition, const RunCell& run,
                      const SweepOptions& options) {
  const std::vector<CellValues> cells = CellsOf(definition);
  std::map<CellValues, SweepCell> finished;
  if (options.folder != nullptr) {
    options.folder->OpenShard(options.shard);
    finished = options.folder->Finished();
  }
  SweepOutcome outcome;
  std::vector<const CellValues*> pending;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool there = finished.contains(cells[i]);
    outcome.taken_up += there;
    if (!there && options.shard.holds(i)) pending.push_back(&cells[i]);
  }

  Progress progress("sweeping", static_cast<std::int64_t>(pending.size()), options.quiet);
  std::mutex mutex;
  std::int64_t done = 0;
  ParallelFor(pending.size(), options.threads, [&](std::size_t i) {
    ThrowIfInterrupted();
    SweepCell cell = RunNamed(definition, run, *pending[i]);
    if (options.folder != nullptr) options.folder->Append(cell);
    const std::lock_guard lock(mutex);
    outcome.cpu_s += cell.summary.cpu_s;
    finished[*pending[i]] = std::move(cell);
    progress.Update(++done, CellText(definition, *pending[i]));
  });

  // Other shards may have finished meanwhile.
  if (options.folder != nullptr && options.shard.count > 1) finished = options.folder->Finished();
  for (const CellValues& values : cells) {
    const auto found = finished.find(values);
    if (found == finished.end()) {
      ++outcome.missing;
    } else {
      outcome.cells.push_back(std::move(found->second));
    }
  }
  return outcome;
}

}  // namespace allot
