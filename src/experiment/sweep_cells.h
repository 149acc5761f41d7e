#pragma once
// The cells of a sweep as runs: makes the world that a cell's options say, shares traces and
// scenarios between cells, and runs the cell's policy in it. Called from several threads.

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

// What the cells are made from: a changed file is a changed sweep.
Inputs SweepInputs(const SweepDefinition& definition);

class SweepCells {
 public:
  // `kept` scenarios are held for the cells to come; at least the number of threads.
  SweepCells(const SweepDefinition& definition, std::size_t kept);

  // UsageError for a world or a policy of any cell that cannot be made, or a window that the first
  // cell's workload does not have, before anything runs.
  void CheckAll();

  SweepCell Run(const CellValues& cell);

  // Of the traces that cells were made from.
  std::vector<std::pair<std::string, ReadReport>> read_reports() { return traces_.reports(); }
  // After CheckAll: between decisions, of worlds that are decided at intervals only, but settings.
  const std::set<Seconds>& intervals() const { return intervals_; }
  // Of the cell that ran with most such jobs (perf/elastic.h); "" for none.
  const std::string& fixed_sizes() const { return fixed_sizes_; }

 private:
  struct Entry {
    std::map<std::string, std::string> options;
    std::mutex mutex;
    std::unique_ptr<World> world;  // with its scenario once made
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
  std::deque<std::shared_ptr<Entry>> entries_;  // latest first
};

}  // namespace allot
