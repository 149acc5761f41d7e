// Three policies on three days of a real trace, without a command line: what `allot compare` does
// with the same values.

#include <cstdio>

#include "core/error.h"
#include "experiment/experiment.h"
#include "metrics/evaluation_text.h"

int main() try {
  allot::WorldSpec spec;
  spec.workload = "embedded";  // four weeks of Philly; or the name of a trace file
  spec.cluster = "4x8";
  spec.loads = {1.0};
  spec.span = "1d";
  spec.workloads = 3;
  allot::World world(spec);

  const allot::Evaluation evaluation = allot::RunExperiment(
      world, world.Scenarios(), allot::ParseContenders(world, "fifo,srtf,optimus"), {});
  std::printf("%s", allot::EvaluationText(evaluation).c_str());
  return 0;
} catch (const allot::Error& error) {
  std::fprintf(stderr, "compare_policies: %s\n", error.what());
  return static_cast<int>(error.code());
}
