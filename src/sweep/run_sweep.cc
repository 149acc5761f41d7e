#include "sweep/run_sweep.h"

#include <mutex>

#include "core/error.h"
#include "core/interrupt.h"
#include "core/parallel.h"
#include "core/progress.h"
#include "sweep/limits.h"

namespace allot {
namespace {

// A run that fails, such as one that can never end, costs the sweep this cell only.
SweepCell RunNamed(const SweepDefinition& definition, const RunCell& run,
                   const CellValues& values) {
  try {
    SweepCell cell = run(values);
    cell.values = values;
    return cell;
  } catch (const Error& error) {
    if (error.code() == ExitCode::kInterrupted) throw;
    if (error.code() == ExitCode::kRunFailed) {
      SweepCell cell;
      cell.values = values;
      cell.failed = error.what();
      return cell;
    }
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
  const SweepLimits limits = LimitsOf(definition);
  const std::vector<SweepChain> chains = ChainsOf(definition, cells);
  // Whether a chain goes on after a step; cells that are not there do not end it.
  const auto goes_on = [&](const SweepChain& chain, std::size_t step) {
    std::vector<const SweepCell*> there;
    for (const std::size_t cell : chain.steps[step]) {
      const auto found = finished.find(cells[cell]);
      if (found != finished.end()) there.push_back(&found->second);
    }
    return there.size() < chain.steps[step].size() || !Reaches(limits, there);
  };
  std::int64_t total = 0;
  std::vector<std::size_t> open;  // chains of this shard that go on
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (const auto& step : chains[c].steps) {
      for (const std::size_t cell : step) {
        const bool there = finished.contains(cells[cell]);
        outcome.taken_up += there;
        total += !there && options.shard.holds(c);
      }
    }
    if (options.shard.holds(c)) open.push_back(c);
  }

  Progress progress("sweeping", total, options.quiet);
  std::mutex mutex;
  std::int64_t done = 0;
  for (std::size_t step = 0; !open.empty(); ++step) {
    std::vector<const CellValues*> pending;
    for (const std::size_t c : open) {
      for (const std::size_t cell : chains[c].steps[step]) {
        if (!finished.contains(cells[cell])) pending.push_back(&cells[cell]);
      }
    }
    ParallelFor(pending.size(), options.threads, [&](std::size_t i) {
      ThrowIfInterrupted();
      SweepCell cell = RunNamed(definition, run, *pending[i]);
      if (options.folder != nullptr) options.folder->Append(cell);
      const std::lock_guard lock(mutex);
      if (cell.failed.empty()) outcome.cpu_s += cell.summary.cpu_s;
      finished[*pending[i]] = std::move(cell);
      progress.Update(++done, CellText(definition, *pending[i]));
    });
    std::erase_if(open, [&](std::size_t c) {
      return step + 1 == chains[c].steps.size() || !goes_on(chains[c], step);
    });
  }

  // Other shards may have finished meanwhile.
  if (options.folder != nullptr && options.shard.count > 1) finished = options.folder->Finished();
  std::vector<bool> wanted(cells.size(), false);
  for (const SweepChain& chain : chains) {
    for (std::size_t step = 0; step < chain.steps.size(); ++step) {
      for (const std::size_t cell : chain.steps[step]) wanted[cell] = true;
      if (!goes_on(chain, step)) break;
    }
  }
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (!wanted[c]) continue;
    const auto found = finished.find(cells[c]);
    if (found == finished.end()) {
      ++outcome.missing;
    } else {
      outcome.failed += !found->second.failed.empty();
      outcome.cells.push_back(std::move(found->second));
    }
  }
  if (outcome.failed > 0 && outcome.failed == outcome.cells.size()) {
    const SweepCell& first = outcome.cells.front();
    throw RunError("{}: {}", CellText(definition, first.values), first.failed);
  }
  return outcome;
}

}  // namespace allot
