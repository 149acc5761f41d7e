// allot tune: the best fixed index for a world.

#include "agents/training/tune.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "core/counted.h"
#include "core/strings.h"
#include "experiment/training/training_plan.h"

namespace allot {
namespace {

struct TuneCommand {
  WorldSpec world;
  std::string bases = "remaining,attained";
  std::string objective = "jct";
  std::string history;
  std::int64_t max_decisions = 4000;
  int passes = 2;
  bool ranked = false;
};

int Tune(TuneCommand& o, const GlobalOptions& globals) {
  std::vector<std::shared_ptr<const Scenario>> scenarios;
  World world(AtIntervals(o.world));
  for (const World::Named& named : world.Scenarios()) scenarios.push_back(named.scenario);
  TuneOptions options;
  options.bases.clear();
  for (const std::string_view basis : Split(o.bases, ',')) options.bases.emplace_back(Trim(basis));
  options.history = o.history;
  options.objective = ObjectiveNamed(o.objective);
  options.max_decisions = o.max_decisions;
  options.passes = o.passes;
  options.ranked = o.ranked;
  options.threads = globals.threads;
  const TunedIndex best = TuneIndex(scenarios, options);
  if (globals.json) {
    std::printf("%s\n", nlohmann::ordered_json{{"policy", best.ranked_spec},
                                               {"objective", o.objective},
                                               {"geometric_mean", std::exp(best.ranked_log_value)},
                                               {"episodes_played", best.played}}
                            .dump(2)
                            .c_str());
  } else {
    std::printf("%s\n", best.ranked_spec.c_str());
    if (!globals.quiet) {
      std::fprintf(stderr, "%s %.6g (geometric mean of %s), %s played\n", o.objective.c_str(),
                   std::exp(best.ranked_log_value),
                   Counted(std::ssize(scenarios), "workload").c_str(),
                   Counted(best.played, "episode").c_str());
    }
  }
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "tune", "search the best fixed index for a world: the heuristic to beat",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<TuneCommand>();
          DeclareWorld(line, o->world);
          line.Option("--bases", o->bases, "values of 'basis' of the policy 'index' that are tried")
              .ShowDefault();
          line.Option("--objective", o->objective, "see 'allot list objectives'").ShowDefault();
          line.Option(
              "--history", o->history,
              "for basis gittins: TRACE@DATE; run times of jobs submitted before are known");
          line.Option("--max-decisions", o->max_decisions,
                      "an episode ends after so many decisions")
              .Range(1, 100000000)
              .ShowDefault();
          line.Option("--passes", o->passes, "passes over the parameters")
              .Range(1, 100)
              .ShowDefault();
          line.Flag(
              "--ranked", o->ranked,
              "also search 'rank' (heSRPT's weight), starting from the best index without it");
          return [o, &globals] { return Tune(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
