// allot compare: several policies on the same workloads.

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/run_command.h"
#include "sim/profile.h"

namespace allot {
namespace {

struct CompareOptions {
  WorldSpec world;
  std::optional<std::string> policies;
  std::string reference;
  std::string title;
  std::string out;
  LogOptions log;
  bool bounds = false;
};

int Compare(CompareOptions& o, const GlobalOptions& globals) {
  World world(o.world);
  const std::vector<Contender> contenders =
      ParseContenders(world, o.policies.value_or(world.ComparedPolicies()));
  ExperimentOptions experiment = OptionsOf(globals);
  experiment.title = o.title;
  experiment.out = o.out;
  o.log.Set(&experiment);
  experiment.reference = o.reference;
  experiment.bounds = o.bounds;
  const Evaluation evaluation =
      RunWithNotes(world, world.TakeScenarios(), contenders, experiment, globals);
  return PrintEvaluation(evaluation, experiment, globals);
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "compare", "run several policies on the same workloads and tabulate",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<CompareOptions>();
          DeclareWorld(line, o->world, BareWord::kWorkload);
          line.Option("-p,--policies", o->policies,
                      "policies, joined by commas; NAME=SPEC gives one a name for tables and files")
              .DefaultText(ComparedPolicies() + "; of a peer's profile the repaired ones");
          line.Option("--reference", o->reference,
                      "policy that the others are compared with (default: the first)");
          line.Flag("--bounds", o->bounds, "add a row with a lower bound on the average JCT");
          line.Option("--title", o->title, "title of the table in the report");
          line.Option("-o,--out", o->out, "folder for evaluation.json and the runs");
          DeclareLog(line, &o->log);
          return [o, &globals] { return Compare(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
