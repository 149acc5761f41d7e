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
#include "features/legal_configurations.h"
#include "workload/job.h"

namespace allot {

// Of live runs: by job, until when it was in the system.
inline constexpr const char* kUntil = "result/until";

// Of an episode: the sum of StepColumns::left_out.
inline constexpr const char* kLeftOut = "actions_left_out";

// How much of a decision the columns hold: the first jobs, and the first configurations of each.
struct StepWindow {
  std::size_t jobs = 128;
  std::size_t configurations = 64;

  std::size_t legal_bytes() const { return (configurations + 7) / 8; }  // a job
};

class StepColumns {
 public:
  explicit StepColumns(const StepWindow& window) : window_(window) {}

  void OnEpisodeStart() { encoder_.OnEpisodeStart(); }

  // Fills jobs, context, job_mask, job and legal; decisions in their order.
  void Observe(const Observation& o);
  // The observation that the last step leads to: of an empty cluster.
  void ObserveEnd(const ClusterSpec& cluster, Seconds interval, Seconds end);
  // Fills action and left_out.
  void Act(const Observation& o, const Allocation& allocation);

  std::vector<float> jobs;  // window x kJobFeatures, 0 where there is no job
  std::vector<float> context;
  std::vector<std::uint8_t> job_mask;
  std::vector<std::int32_t> job;    // which job is in each slot of the window, -1: none
  std::vector<std::uint8_t> legal;  // window x legal_bytes: bit k of a job: it could have
                                    // configuration k (features/legal_configurations.h)
  // By slot: 0: nothing, else 1 + the configuration that the job is given, as ChoiceAction has it.
  std::vector<std::int64_t> action;
  // Jobs that are given something which the action cannot say: beyond the window, or of a
  // configuration beyond the width (then the action says 0).
  std::int64_t left_out = 0;

 private:
  StepWindow window_;
  LegalConfigurations legal_;
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
