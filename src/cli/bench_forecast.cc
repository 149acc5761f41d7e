// allot bench forecast: the cost of a wait forecast (bench/forecasts.h).

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/forecasts.h"
#include "bench/machine.h"
#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/file.h"
#include "core/version.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct ForecastBenchOptions {
  std::vector<std::string> policies = {"fifo", "las", "srtf", "index"};
  int jobs = 1000;
  std::string out;
};

int BenchForecast(const ForecastBenchOptions& o, const GlobalOptions& globals) {
  Json json = {{"command", TypedCommand()},
               {"version", Version()},
               {"machine", BenchMachine()},
               {"forecasts", Json::array()}};
  for (const std::string& policy : o.policies) {
    json["forecasts"].push_back(MeasureForecast(policy, o.jobs));
  }
  if (!o.out.empty()) WriteTextFile(o.out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("CPU milliseconds of one forecast, and of one quote\n%-12s %6s %6s %8s %8s %8s\n",
              "policy", "jobs", "GPUs", "futures", "forecast", "quote");
  for (const Json& row : json["forecasts"]) {
    std::printf("%-12s %6d %6d %8d %8.0f %8.0f\n", row.at("policy").get<std::string>().c_str(),
                row.at("jobs").get<int>(), row.at("gpus").get<int>(), row.at("futures").get<int>(),
                row.at("cpu_ms").get<double>(), row.at("quote_cpu_ms").get<double>());
  }
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{"bench forecast", "CPU time of a forecast of all jobs' starts and ends",
                 [](CommandLine& line, const GlobalOptions& globals) {
                   auto o = std::make_shared<ForecastBenchOptions>();
                   line.Option("--policies", o->policies, "policies, joined by commas")
                       .SplitAt(',')
                       .ShowDefault();
                   line.Option("--jobs", o->jobs, "number of jobs").Range(16, 100000).ShowDefault();
                   line.Option("-o,--out", o->out, "write the figures as JSON to this file");
                   return [o, &globals] { return BenchForecast(*o, globals); };
                 }}));

}  // namespace
}  // namespace allot
