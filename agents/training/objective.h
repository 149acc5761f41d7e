#pragma once
// What is minimised: the outcome of an episode as one number. Evolution strategies minimise it,
// validation and tuning compare by it, always relative to a reference policy on the same arrivals.
// A new one is one file in agents/training/objectives/ that registers itself.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/job_record.h"
#include "core/registry.h"
#include "sched/policy.h"
#include "sim/scenario.h"

namespace allot {

// A played episode. A job that was unfinished when it was cut counts as if it ran in its fastest
// configuration from there.
struct Played {
  const Scenario* scenario = nullptr;
  std::span<const JobRecord> records;
  Seconds end = 0;          // when it ended or was cut
  std::vector<double> jct;  // by job
};

struct ObjectiveInfo {
  std::string id;
  std::string summary;
  std::function<double(const Played&)> value;  // > 0, less is better
};

using Objective = std::function<double(const Played&)>;
Objective ObjectiveNamed(const std::string& id);  // UsageError with did-you-mean

// Plays one episode of at most `max_decisions` decisions.
double PlayFor(const Objective& objective, const Scenario& scenario, Policy& policy,
               std::int64_t max_decisions);

// Of the jobs, those whose mean JCT stands for short jobs.
inline constexpr double kShortestShare = 0.95;

// Mean of the `share` smallest values (at least one); reorders. O(n).
double TrimmedMean(std::vector<double> values, double share);

}  // namespace allot
