#pragma once
// Runs the cells of a sweep: makes the world of a cell's options, shares traces and scenarios
// between cells, and runs the cell's policy. Thread-safe.

#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/inputs.h"
#include "experiment/workload_cache.h"
#include "experiment/world.h"
#include "metrics/sweep_results.h"
#include "sweep/definition.h"

namespace allot {

// The options of the world that sweeps may set or vary, by long name.
WorldOptions SweepableOptions();

// The files that the cells are made from: a changed file is a changed sweep.
Inputs SweepInputs(const SweepDefinition& definition);

class SweepCells {
 public:
  // `kept` scenarios stay in memory for later cells; at least the number of threads.
  SweepCells(const SweepDefinition& definition, std::size_t kept);

  // Checks all cells before any runs: UsageError for a world or policy that cannot be made, or a
  // window that the first cell's workload does not have.
  void CheckAll();

  SweepCell Run(const CellValues& cell);

  // Reports on the traces of the cells.
  std::vector<std::pair<std::string, ReadReport>> read_reports() { return traces_.reports(); }
  // Call after CheckAll: the intervals of worlds, other than settings, that decide only at
  // intervals.
  const std::set<Seconds>& intervals() const { return intervals_; }
  // The note (perf/elastic.h) of the cell with most such jobs; "" without such jobs.
  const std::string& fixed_sizes() const { return fixed_sizes_; }

 private:
  struct Entry {
    std::map<std::string, std::string> options;
    std::mutex mutex;
    std::unique_ptr<World> world;  // with its scenario, once that is made
    std::vector<World::Named> scenarios;
  };

  std::unique_ptr<World> MakeWorld(const std::map<std::string, std::string>& options);
  std::shared_ptr<Entry> Find(const std::map<std::string, std::string>& options);  // maybe new
  std::shared_ptr<Entry> Get(const std::map<std::string, std::string>& options);   // made
  SweepCell RunIn(const Entry& entry, const std::string& spec) const;

  const SweepDefinition& definition_;
  std::size_t kept_;
  WorkloadCache traces_;
  std::set<Seconds> intervals_;
  std::int64_t most_fixed_ = 0;
  std::string fixed_sizes_;
  std::mutex mutex_;
  std::deque<std::shared_ptr<Entry>> entries_;  // most recently used first
};

}  // namespace allot
