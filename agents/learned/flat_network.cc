// The network 'flat': DL2's (Peng et al., TPDS'21), a window of job slots into two layers and a
// softmax over 3 x slots + 1 actions. Jobs beyond the window come in the next one, as there.

#include "agents/learned/sequence_agent.h"

namespace allot {
namespace {

NetWeights FreshFlat(const Params& params, std::uint64_t seed) {
  SequencePlan plan;
  plan.window = params.Integer("window");
  plan.types = JobTypeNames(params.Text("types"));
  plan.bundles = params.Flag("first-bundle");
  plan.stop_late = params.Flag("mask-done");
  NetWeights weights =
      InitFlatNet({.window = plan.window,
                   .job_features = kDl2JobFeatures + static_cast<int>(plan.types.size()),
                   .hidden = params.Integer("hidden"),
                   .kinds = SequenceAction::kKinds},
                  seed);
  WritePlan(plan, &weights);
  return weights;
}

ALLOT_REGISTER(
    NetworkInfo,
    (NetworkInfo{std::string(kFlatKind),
                 "DL2: gives the next unit to one of a window of jobs, or ends; two layers",
                 "sequence",
                 kSequenceFeatureVersion,
                 {{"window", "20", "job slots", 1, 1000},
                  {"hidden", "256", "units of each of the two layers", 1, 4096},
                  {"types", "", "job types, by name of their model, joined by | (default: DL2's)"},
                  {"first-bundle", "true", "every job gets one bundle before the network chooses"},
                  {"mask-done", "false", "'done' is not allowed while an increment helps"}},
                 FreshFlat,
                 CheckSequenceAgent,
                 MakeSequencePolicy}));

}  // namespace
}  // namespace allot
