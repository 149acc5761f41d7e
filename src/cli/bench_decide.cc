// allot bench decide: the cost of one decision of the learned index policy (bench/decisions.h).

#include <cstdio>
#include <nlohmann/json.hpp>

#include "agents/learned/agent.h"
#include "agents/learned/index_agent.h"
#include "bench/decisions.h"
#include "bench/machine.h"
#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/file.h"
#include "core/version.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct DecideOptions {
  std::vector<int> jobs = {50, 1000, 5000};
  double nodes_per_job = 2;
  std::string lengths = "known";
  int users = 0;
  std::string checkpoint;
  std::string world;
  std::string out;
};

int BenchDecide(const DecideOptions& o, const GlobalOptions& globals) {
  const Agent agent =
      o.checkpoint.empty()
          ? Agent{IndexAgentAt({.alpha = 0.25F, .beta = 0.3F, .kappa = 0.3F}, 16, 1), {}}
          : LoadAgent(o.checkpoint);
  Json json = {{"command", TypedCommand()}, {"version", Version()},
               {"machine", BenchMachine()}, {"hidden", agent.weights.sizes.value("hidden", 0)},
               {"lengths", o.lengths},      {"users", o.users},
               {"decisions", Json::array()}};
  for (const int jobs : o.jobs) {
    json["decisions"].push_back(
        MeasureDecisions({jobs, o.nodes_per_job, o.lengths == "known", o.users, o.world}, agent));
  }
  if (!o.out.empty()) WriteTextFile(o.out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("CPU microseconds of one decision\n%8s %8s %10s %10s %10s %10s %10s\n", "jobs",
              "nodes", "features", "network", "fill", "decision", "+placement");
  for (const Json& row : json["decisions"]) {
    std::printf("%8d %8d", row.at("jobs").get<int>(), row.at("nodes").get<int>());
    for (const char* part :
         {"features_us", "network_us", "fill_us", "decision_us", "with_placement_us"}) {
      if (row.contains(part)) {
        std::printf(" %10.1f", row.at(part).get<double>());
      } else {
        std::printf(" %10s", "-");
      }
    }
    std::printf("\n");
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{
                   "bench decide", "CPU time of one decision of the learned policy, by its parts",
                   [](CommandLine& line, const GlobalOptions& globals) {
                     auto o = std::make_shared<DecideOptions>();
                     line.Option("--jobs", o->jobs, "numbers of jobs, joined by commas")
                         .SplitAt(',')
                         .Range(1, 1000000)
                         .ShowDefault();
                     line.Option("--nodes-per-job", o->nodes_per_job,
                                 "nodes of 2 GPUs per job; below 2 jobs compete for GPUs")
                         .Range(0.01, 100.0)
                         .ShowDefault();
                     line.Option("--lengths", o->lengths,
                                 "job lengths that the policy gets: known or none")
                         .OneOf({"known", "none"})
                         .ShowDefault();
                     line.Option("--users", o->users,
                                 "number of users who submit the jobs, in turn; 0: users unknown")
                         .Range(0, 1000000)
                         .ShowDefault();
                     line.Option("--world", o->world,
                                 "of a network for several worlds: whose tuned index it adds to");
                     line.Option("--checkpoint", o->checkpoint,
                                 "weights (default: an untrained network of 16 hidden units)");
                     line.Option("-o,--out", o->out, "write the figures as JSON to this file");
                     return [o, &globals] { return BenchDecide(*o, globals); };
                   }}));

}  // namespace
}  // namespace allot
