// The network 'shared': one encoder for all jobs, any number of them, and what their configuration
// tables say of the next increments (or, to compare, only what DL2's network sees).

#include "agents/learned/sequence_agent.h"
#include "core/error.h"

namespace allot {
namespace {

NetWeights FreshShared(const Params& params, std::uint64_t seed) {
  const std::string& features = params.Text("features");
  if (features != "speed" && features != "dl2") {
    throw UsageError("network 'shared': features must be speed or dl2, got '{}'", features);
  }
  SequencePlan plan;
  plan.scaled = true;
  plan.bundles = params.Flag("first-bundle");
  plan.stop_late = params.Flag("mask-done");
  if (features == "speed") {
    plan.features = SequenceFeatures::kSpeed;
  } else {
    plan.types = JobTypeNames(params.Text("types"));
  }
  const SequenceEncoder encoder(plan.features, plan.types, plan.scaled, {});
  NetWeights weights = InitSharedNet({.job_features = encoder.job_features(),
                                      .context_features = encoder.context_features(),
                                      .hidden = params.Integer("hidden"),
                                      .kinds = SequenceAction::kKinds},
                                     seed);
  WritePlan(plan, &weights);
  return weights;
}

ALLOT_REGISTER(
    NetworkInfo,
    (NetworkInfo{std::string(kSharedKind),
                 "gives the next unit to any job, or ends; one encoder for all jobs",
                 "sequence",
                 kSequenceFeatureVersion,
                 {{"hidden", "24", "units of the encoder", 1, 4096},
                  {"features", "speed", "speed (of tables) or dl2"},
                  {"types", "", "job types, for features=dl2"},
                  {"first-bundle", "true", "every job gets one bundle before the network chooses"},
                  {"mask-done", "true", "'done' is not allowed while an increment helps"}},
                 FreshShared,
                 CheckSequenceAgent,
                 MakeSequencePolicy}));

}  // namespace
}  // namespace allot
