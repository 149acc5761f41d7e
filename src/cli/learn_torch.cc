// allot learn: from a trace to an accepted policy.

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/typed_command.h"
#include "experiment/learn/learn.h"
#include "models/torch/configure.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "learn", "from a trace to an accepted policy: tune, forecast, train, test",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<LearnOptions>();
          line.Footer(
              "The jobs are divided by their submission: half to learn from, a fifth to choose by, "
              "the\nrest for the test, which is played once. Each part counts only if it helps on "
              "jobs that\nit was not made from; without a network that does, the policy is the "
              "tuned rule.\nCtrl-C ends the training; what was best so far is then tested.");
          DeclareWorld(line, o->world);
          line.Option("-o,--out", o->out, "folder for policy/, report.html, learn.json, train/")
              .Required();
          line.Option("--minutes", o->minutes, "for everything; the network gets what is left")
              .Range(0.1, 100000.0)
              .ShowDefault();
          line.Option("--iterations", o->iterations,
                      "of the network's training, in place of --minutes: repeats a run to the "
                      "bit")
              .Range(0, 10000000)
              .Detail("Training");
          line.Option("--objective", o->objective, "see 'allot list objectives'").ShowDefault();
          line.Flag("--resume", o->resume, "continue in the folder, with the same options");
          return [o, &globals] {
            ConfigureTorch();
            o->command = TypedCommand();
            RunLearning(*o, globals);
            return 0;
          };
        }}));

}  // namespace
}  // namespace allot
