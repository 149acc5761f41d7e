// allot score: a policy in the tasks of the contest.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/file.h"
#include "core/json_text.h"
#include "experiment/score/score_run.h"
#include "experiment/score/scoreboard.h"

namespace allot {
namespace {

struct ScoreCommand {
  ScoreOptions run;
  std::string policies;
  std::string out;
};

void ReportAbsences(const ScoreResult& result) {
  for (const ScoredTask& task : result.tasks) {
    for (const ScoredPolicy& entry : task.entries) {
      if (!entry.absent) continue;
      std::fprintf(stderr, "absent: %s cannot play %s: %s\n", entry.policy.c_str(),
                   task.task.c_str(), entry.absent->c_str());
    }
  }
}

int Score(ScoreCommand& o, const GlobalOptions& globals) {
  o.run.command = TypedCommand();
  o.run.threads = globals.threads;
  o.run.show_progress = !globals.quiet;
  const ScoreResult result = PlaySuite(ParseEntrants(o.policies), o.run);
  const std::string json = JsonText(ToJson(result), -1) + "\n";
  WriteTextFile(o.out, json);
  ReportAbsences(result);
  if (globals.json) {
    std::printf("%s", json.c_str());
  } else {
    std::printf("%s", Scoreboard({result}).ToText().c_str());
  }
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "score", "play the tasks of the contest with a policy; one result file",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ScoreCommand>();
          line.Footer(
              "Each policy plays every task of the suite beside the task's published rules and "
              "its\n"
              "tuned rule, on the same test workloads. These follow from --suite and --salt: with "
              "a\n"
              "salt of your own they are workloads by which no policy was chosen. A policy that\n"
              "cannot play a task is reported as absent, and has no mean over the suite.\n"
              "docs/scoreboard.md holds the present scoreboard and says how to submit.");
          line.Option("-p,--policy", o->policies,
                      "policies, joined by commas; NAME=SPEC gives one its name on the scoreboard: "
                      "mine=learned:checkpoint=DIR, mine=python:MODULE:CLASS")
              .Required();
          line.Option("--suite", o->run.suite, "v1, v2, or small for a check in seconds")
              .ShowDefault();
          line.Option("--salt", o->run.salt, "any text; from it the test workloads are drawn")
              .ShowDefault();
          line.Option("-o,--out", o->out, "file of the result, for allot scoreboard").Required();
          return [o, &globals] { return Score(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
