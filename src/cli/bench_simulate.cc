// allot bench simulate: the CPU time of simulations (bench/results), on one thread. Only the gain
// of a second thread for environments is measured by wall time.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/env_steps.h"
#include "bench/machine.h"
#include "bench/simulations.h"
#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/typed_command.h"
#include "core/cpu_time.h"
#include "core/file.h"
#include "core/version.h"
#include "experiment/spec_list.h"
#include "experiment/world.h"
#include "sim/run.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct SimulationOptions {
  WorldSpec world;
  bool trace = false;
  bool figure6 = false;
  bool million = false;
  bool env = false;
  std::string policies = "fifo,las,srtf";
  int most_active = 100000;
  std::string dl2;
  std::string gavel;
  std::string out;
};

Json BenchTrace(const SimulationOptions& o) {
  World world(o.world);
  const double start = ThreadCpuSeconds();
  const auto scenarios = world.Scenarios();
  const double read = ThreadCpuSeconds() - start;
  std::fputs(world.ReadNote().c_str(), stderr);
  Json rows = Json::array();
  for (const std::string& spec : SplitSpecs(o.policies)) {
    const Scenario& scenario = *scenarios.front().scenario;
    const RunOutcome outcome = RunPolicy(scenario, *world.MakePolicy(spec));
    rows.push_back({{"workload", scenario.workload().name},
                    {"jobs", scenario.workload().jobs.size()},
                    {"gpus", scenario.cluster().total().gpus},
                    {"policy", spec},
                    {"decisions", outcome.drive.decisions},
                    {"cpu_s", outcome.cpu_s},
                    {"read_cpu_s", read}});
  }
  return rows;
}

void PrintRows(const char* title, const Json& rows) {
  std::printf("%s\n", title);
  for (const Json& row : rows) {
    std::string line;
    for (const auto& [key, value] : row.items()) {
      line += value.is_number_float() ? fmt::format("  {} {:.4g}", key, value.get<double>())
                                      : fmt::format("  {} {}", key, value.dump());
    }
    std::printf(" %s\n", line.c_str());
  }
}

int BenchSimulate(SimulationOptions& o, const GlobalOptions& globals) {
  Json json = {{"command", TypedCommand()}, {"version", Version()}, {"machine", BenchMachine()}};
  if (o.million)
    json["million"] =
        MeasureMillion(o.policies);  // first, because its peak of memory is the process's
  json["active_jobs"] = MeasureCrowds(o.policies, o.most_active);
  json["idle"] = MeasureIdle();
  if (o.trace) json["trace"] = BenchTrace(o);
  if (!o.dl2.empty()) json["dl2"] = MeasureDl2(o.dl2);
  if (!o.gavel.empty()) json["gavel"] = MeasureGavel(o.gavel);
  if (o.figure6) json["figure6"] = MeasureFigure6();
  if (o.env) json["env"] = BenchEnv();
  json["machine"]["load_at_end"] = LoadAverage();
  if (!o.out.empty()) WriteTextFile(o.out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  if (o.million) PrintRows("a million jobs on 100,000 GPUs", json["million"]);
  PrintRows("CPU per decision against active jobs", json["active_jobs"]);
  PrintRows("rounds in which nothing can change", Json::array({json["idle"]}));
  if (o.trace) PrintRows("trace", json["trace"]);
  if (!o.dl2.empty()) PrintRows("DL2's heuristics on its mid_s1", json["dl2"]);
  if (!o.gavel.empty()) PrintRows("Gavel's cont_single_108", json["gavel"]);
  if (o.figure6) PrintRows("Figure 6 of Blox", Json::array({json["figure6"]}));
  if (o.env)
    PrintRows("environments", Json::array({json["env"]["sequence"], json["env"]["vector"]}));
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{"bench simulate",
                 "CPU time of simulations: per decision, idle, on traces, of peers' sets, of envs",
                 [](CommandLine& line, const GlobalOptions& globals) {
                   auto o = std::make_shared<SimulationOptions>();
                   DeclareWorld(line, o->world);
                   line.Flag("--trace", o->trace, "also simulate --workload on --cluster");
                   line.Flag("--figure6", o->figure6, "also run the cells of preset blox-fig6");
                   line.Flag("--million", o->million,
                             "also simulate 1,000,000 jobs on 100,000 GPUs");
                   line.Flag("--env", o->env, "also step environments");
                   line.Option("--policies", o->policies, "policies to run").ShowDefault();
                   line.Option("--max-active", o->most_active,
                               "largest number of active jobs; starts at 100, grows tenfold")
                       .Range(100, 1000000)
                       .ShowDefault();
                   line.Option("--dl2", o->dl2, "DL2's reference folder: also run its heuristics");
                   line.Option("--gavel", o->gavel,
                               "Gavel's reference folder: also run its cont_single_108");
                   line.Option("-o,--out", o->out, "write the figures as JSON to this file");
                   return [o, &globals] { return BenchSimulate(*o, globals); };
                 }}));

}  // namespace
}  // namespace allot
