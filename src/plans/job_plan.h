#pragma once
// `allot-elastic plan`: the plan by which the job that calls is to split its training, and the
// options with which a training framework does so (docs/plans.md). Called by
// elastic/program/main.cc in job scripts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plans/stated_plan.h"

namespace allot {

// The plan of the job that calls: ALLOT_PLAN. On Slurm, where nobody can change the environment of
// a script between its starts, the one in the job's AdminComment. DataError where the job has none.
std::string PlanOfThisJob();
// The plan in what `scontrol show job` prints of a job; nothing where there is none.
std::optional<std::string> PlanInJobRecord(std::string_view shown);

// "megatron" (Megatron-LM, core 0.14), "torchtitan" (0.2), "nemo" (2.4).
std::vector<std::string> PlanFrameworks();
// The words of its command line. UsageError that lists the frameworks for another one.
std::vector<std::string> OptionsOf(const std::string& framework, const StatedPlan& stated);

}  // namespace allot
