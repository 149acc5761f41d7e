#pragma once
// The table of jobs of a simulated cluster: the observation, in which every unfinished job that has
// arrived is a row, and what the simulator knows of jobs beyond it. SimulatedCluster owns it, and
// its parts (sim/whole_rounds.h, sim/stepped_training.h and others) read and change it.

#include <cstdint>
#include <span>
#include <vector>

#include "cluster/job_record.h"
#include "cluster/observation.h"
#include "core/index.h"
#include "sim/scenario.h"

namespace allot {

// A job that runs, in one slot.
struct RunningJob {
  double work = 0;    // true total
  Seconds ready = 0;  // end of the restart; progress counts from here
  double rate = 0;    // work per second to the end; 0 where another part says how it progresses
  Seconds finish = kNever;
  double gpus = 0;  // allocated; of GPUs that two jobs share each has half
};

struct SimulatedJobs {
  // Row i of `start` is job i of the scenario; the other jobs have not arrived. Nothing runs in the
  // slots before Run is called for the rows that run.
  SimulatedJobs(const Scenario& scenario, Observation start);
  SimulatedJobs(const SimulatedJobs&) = delete;  // Holdings points into the observation
  SimulatedJobs& operator=(const SimulatedJobs&) = delete;

  const Scenario& scenario;
  Observation observation;
  std::vector<std::int32_t> row_of_job;    // -1: not a row
  std::vector<JobRecord> records;          // by job
  std::vector<std::int32_t> running_rows;  // by slot, ascending
  std::vector<RunningJob> running;         // by slot
  Seconds first_finish = kNever;           // of the slots
  double gpus_used = 0;                    // of the slots
  JobIndex next_arrival = 0;

  bool all_arrived() const { return At(next_arrival) == records.size(); }
  std::size_t RowIn(std::size_t slot) const { return At(running_rows[slot]); }
  JobIndex JobIn(std::size_t slot) const { return observation.job[RowIn(slot)]; }
  const Scenario::JobFacts& FactsOf(std::size_t row) const {
    return scenario.facts(observation.job[row]);
  }
  // What the row runs in, as one of the true table.
  const Configuration& TrueConfiguration(std::size_t row) const {
    return (*FactsOf(row).table)[observation.running[row]];
  }

  // What the row runs in without what it has on a node; -1 where it cannot go on so. O(its nodes).
  std::int32_t ConfigurationWithout(std::size_t row, NodeIndex node) const;
  // Of a job that runs. O(log slots).
  std::size_t SlotOf(JobIndex job) const;

  // Appends a slot; rows are added in ascending order.
  void Run(std::int32_t row, const RunningJob& job);
  void ClearSlots();
  void FindFirstFinish();  // O(slots)

  // Takes away ended jobs: their rows and their slots, both ascending, at least one. O(rows).
  void Erase(const std::vector<std::int32_t>& rows, std::span<const std::size_t> slots);
};

}  // namespace allot
