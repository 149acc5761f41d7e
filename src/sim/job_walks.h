#pragma once
// How simulated jobs whose rate changes while they run (sim/job_process.h) get on: segment by
// segment, exactly. Of one run of a scenario; jobs without a process, and those that train in steps
// (sim/stepped_training.h), are not asked for here. Used by SimulatedCluster and ShownRates.

#include <vector>

#include "sim/decision_times.h"
#include "sim/job_process.h"
#include "sim/network_load.h"
#include "sim/scenario.h"
#include "sim/simulated_jobs.h"

namespace allot {

class JobWalks {
 public:
  explicit JobWalks(const Scenario& scenario);

  bool any() const { return !walks_.empty(); }
  bool Follows(JobIndex job) const {
    return scenario_.facts(job).process() != nullptr && !scenario_.TrainsInSteps(job);
  }

  // The job in the row has something new to run on, from `ready` on, which slows it down so.
  // Returns when it will be done, kNever where it stops to progress before. O(segments).
  Seconds Begin(const Observation& observation, std::size_t row, Seconds ready,
                const PlaceFactors& place = {});
  // The same place slows it down otherwise from now on. Answers as Begin, for the same `ready`.
  Seconds Continue(const Observation& observation, std::size_t row, Seconds ready,
                   const PlaceFactors& place);
  // The jobs that were given something new to run on begin on it, on their places in the network
  // (null: it does not count) and their GPUs, and get their ends and rates. O(slots + segments).
  void BeginStarted(SimulatedJobs* jobs, NetworkLoad* network, const DecisionTimes& times);
  // The jobs whose congestion has changed go on at other rates, to other ends.
  void FollowCongestion(SimulatedJobs* jobs, NetworkLoad* network, const DecisionTimes& times);

  // The rate of the segment that the job is in where it has no end, else 0.
  double LastRate(const Observation& observation, std::size_t row) const;
  // The segment that the job is in, whose rate includes the speed-up and what checkpoints cost;
  // `done` is moved past the end of one that is as good as over.
  JobProcess::Segment SegmentAt(const Observation& observation, std::size_t row,
                                double* done) const;
  // Work that is done after so many seconds from `done` on, or from where the job began.
  double DoneAfter(const Observation& observation, std::size_t row, double done,
                   Seconds worked) const;
  double DoneSinceBegin(const Observation& observation, std::size_t row, Seconds worked) const;

 private:
  // From when on the job's place has these factors.
  struct Mark {
    Seconds worked = 0;  // since its last start
    double done = 0;     // work
    PlaceFactors place{};
  };
  struct JobWalk {
    Mark begun;
    std::vector<Mark> earlier{};  // since its last start, ascending
    // The segment that was asked for last on what it runs on, from that work on.
    double from = 0;
    JobProcess::Segment segment{0, 0};
  };

  PlaceFactors PlaceOf(const SimulatedJobs& jobs, std::size_t slot,
                       const NetworkLoad* network) const;
  Seconds EndFrom(const Observation& observation, std::size_t row, Seconds time) const;

  const Scenario& scenario_;
  // By job; segments are remembered. Empty: none has a process.
  mutable std::vector<JobWalk> walks_;
};

}  // namespace allot
