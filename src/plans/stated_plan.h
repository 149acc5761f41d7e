#pragma once
// A plan as the program of a job reads it, in the variable ALLOT_PLAN (docs/plans.md). A value.

#include <string>
#include <string_view>

#include "plans/plan.h"

namespace allot {

struct StatedPlan {
  Plan plan;
  int batch = 1;   // sequences of a step, over all GPUs
  int layers = 1;  // of the model

  friend bool operator==(const StatedPlan&, const StatedPlan&) = default;
};

// "dp=8 tp=4 pp=2 vp=5 cp=1 ep=1 zero=1 micro_batch=1 recompute=none global_batch=512 layers=80"
std::string TextOf(const StatedPlan& stated);
// Such a text, its parts in any order. DataError for a part that is missing, unknown or given
// twice, and for a batch that the replicas do not divide; `where` ends its message.
StatedPlan ParsePlan(std::string_view text, std::string_view where);

}  // namespace allot
