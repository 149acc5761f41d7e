#pragma once
// One decision as rows of the columns that Minari reads: what a log writes, and what playing it
// back must give again, bit for bit.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/job_record.h"
#include "cluster/observation.h"
#include "core/types.h"
#include "features/encoder.h"
#include "workload/job.h"

namespace allot {

// Of live runs: by job, until when it was in the system.
inline constexpr const char* kUntil = "result/until";

class StepColumns {
 public:
  // `window`: jobs that an observation holds, the first ones.
  explicit StepColumns(std::size_t window) : window_(window) {}

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }

  // Fills jobs, context and job_mask; decisions in their order.
  void Observe(const Observation& o);
  // The observation that the last step leads to: of an empty cluster.
  void ObserveEnd(const ClusterSpec& cluster, Seconds interval, Seconds end);
  // Fills action: what each job of the window is given, as the cost of its configuration.
  void Act(const Observation& o, const Allocation& allocation);

  std::vector<float> jobs;  // window x kJobFeatures, 0 where there is no job
  std::vector<float> context;
  std::vector<std::uint8_t> job_mask;
  std::vector<float> action;

 private:
  std::size_t window_;
  FeatureEncoder encoder_;
  FeatureBatch features_;
};

// Of a simulated run, the reward of its last step: what the others leave of minus the total JCT.
double LastReward(std::span<const JobRecord> records, std::span<const double> others);

// Of a live run: minus the jobs in the system, integrated from decision to decision; what was
// before the first counts with it. `until`: by job, that it was in the system. O(decisions x jobs).
std::vector<double> LiveRewards(std::span<const Seconds> decisions, std::span<const Job> jobs,
                                std::span<const Seconds> until, Seconds end);

}  // namespace allot
