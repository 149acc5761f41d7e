// A policy of one's own beside those of an installed allot: oldest job first, each packed on as few
// nodes as it fits on.

#include <cstdio>

#include "core/error.h"
#include "experiment/experiment.h"
#include "metrics/evaluation_text.h"
#include "stages/staged_policy.h"

ALLOT_REGISTER(allot::PolicyInfo,
               allot::StagedPolicyInfo("mine", "first in, first out, without backfill",
                                       {.ordering = "submit", .placement = "packed"}));

int main() try {
  allot::World world({.cluster = "4x8", .loads = {0.9}, .span = "1d"});
  const allot::Evaluation evaluation = allot::RunExperiment(
      world, world.Scenarios(), allot::ParseContenders(world, "mine,fifo,srtf"), {});
  std::printf("%s", allot::EvaluationText(evaluation).c_str());
  return 0;
} catch (const allot::Error& error) {
  std::fprintf(stderr, "own_policy: %s\n", error.what());
  return static_cast<int>(error.code());
}
