// allot simulate: one policy on one workload.

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/run_command.h"
#include "core/json_text.h"
#include "core/labelled_spec.h"

namespace allot {
namespace {

struct SimulateOptions {
  WorldSpec world;
  std::string policy = "fifo";
  std::string out;
  LogOptions log;
};

int Simulate(SimulateOptions& o, const GlobalOptions& globals) {
  World world(o.world);
  const LabelledSpec policy = ReadLabel(o.policy);
  const std::vector<Contender> contenders = {
      {policy.label, [&] { return world.MakePolicy(policy.spec); }, policy.spec}};
  contenders.front().make();
  ExperimentOptions experiment = OptionsOf(globals);
  o.log.Set(&experiment);
  experiment.out = o.out;
  experiment.single_run = true;
  const auto scenarios = world.TakeScenarios();
  if (scenarios.size() > 1)
    throw UsageError("simulate runs one workload, got --workloads {}; see 'allot compare'",
                     scenarios.size());
  const Evaluation evaluation = RunWithNotes(world, scenarios, contenders, experiment, globals);
  if (globals.json) {
    nlohmann::ordered_json json = ToJson(evaluation.policies.front().runs.front());
    const DrawnModels& drawn = evaluation.workloads.front().drawn;
    if (drawn.jobs > 0) json["models_drawn"] = ToJson(drawn);
    if (evaluation.workloads.front().fixed_sizes > 0) {
      json["fixed_sizes"] = evaluation.workloads.front().fixed_sizes;
    }
    if (!evaluation.read.is_null()) json["read"] = evaluation.read;
    std::printf("%s\n", JsonText(json).c_str());
    return 0;
  }
  return PrintEvaluation(evaluation, experiment, globals);
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "simulate", "run one policy on one workload",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto o = std::make_shared<SimulateOptions>();
                     DeclareWorld(line, o->world, BareWord::kWorkload);
                     line.Option("-p,--policy", o->policy,
                                 "policy, e.g. las or las:queues=3600|36000; see 'allot list'")
                         .ShowDefault();
                     line.Option(
                         "-o,--out", o->out,
                         "folder for jobs.csv, timeline.csv, allocations.csv, summary.json");
                     DeclareLog(line, &o->log);
                     return [o, &globals] { return Simulate(*o, globals); };
                   }}));

}  // namespace
}  // namespace allot
