#pragma once
// A decision as rows of the columns that Minari reads. A log writes them, and its replay must
// reproduce them bit for bit.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/allocation.h"
#include "cluster/job_record.h"
#include "cluster/observation.h"
#include "core/types.h"
#include "features/encoder.h"
#include "features/legal_configurations.h"
#include "workload/job.h"

namespace allot {

// For live runs: when each job left the system.
inline constexpr const char* kUntil = "result/until";

// The sum of StepColumns::left_out over an episode.
inline constexpr const char* kLeftOut = "actions_left_out";

// The width of the columns: the first jobs, and the first configurations of each.
struct StepWindow {
  std::size_t jobs = 128;
  std::size_t configurations = 64;

  std::size_t legal_bytes() const { return (configurations + 7) / 8; }  // per job
};

class StepColumns {
 public:
  explicit StepColumns(const StepWindow& window) : window_(window) {}

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }

  // Fills jobs, context, job_mask, job and legal. Call it for the decisions in order.
  void Observe(const Observation& o);
  // The observation after the last step: that of an empty cluster.
  void ObserveEnd(const ClusterSpec& cluster, Seconds interval, Seconds end);
  // Fills action and left_out.
  void Act(const Observation& o, const Allocation& allocation);

  std::vector<float> jobs;  // window x kJobFeatures, 0 where there is no job
  std::vector<float> context;
  std::vector<std::uint8_t> job_mask;
  std::vector<std::int32_t> job;    // the job in each slot of the window; -1 for none
  std::vector<std::uint8_t> legal;  // window x legal_bytes: bit k of a job is set if configuration
                                    // k is legal (features/legal_configurations.h)
  // By slot: 0 for no GPUs, else 1 + the job's configuration, as in ChoiceAction.
  std::vector<std::int64_t> action;
  // The number of jobs whose allocation the action cannot express: beyond the window, or with a
  // configuration beyond the width (the action is then 0).
  std::int64_t left_out = 0;

 private:
  StepWindow window_;
  LegalConfigurations legal_;
  FeatureEncoder encoder_;
  FeatureBatch features_;
};

// The last step's reward of a simulated run, which makes the sum minus the total JCT.
double LastReward(std::span<const JobRecord> records, std::span<const double> others);

// The rewards of a live run: minus the number of jobs in the system, integrated from decision to
// decision; the time before the first counts with it. `until` is when each job left the system.
// O(decisions x jobs).
std::vector<double> LiveRewards(std::span<const Seconds> decisions, std::span<const Job> jobs,
                                std::span<const Seconds> until, Seconds end);

}  // namespace allot
