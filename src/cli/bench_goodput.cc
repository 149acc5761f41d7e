// allot bench goodput: the cost of scheduling by goodput (bench/goodput.h).

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/goodput.h"
#include "bench/machine.h"
#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/file.h"
#include "core/version.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

int BenchGoodput(const std::string& out, const GlobalOptions& globals) {
  Json json = {{"command", TypedCommand()},
               {"version", Version()},
               {"machine", BenchMachine()},
               {"simulations", MeasureGoodputSimulations()},
               {"decisions", MeasureGoodputDecisions()}};
  if (!out.empty()) WriteTextFile(out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("CPU seconds of a simulation of Pollux's world\n");
  for (const Json& row : json["simulations"]) {
    std::printf("  %-10s %8.4f  (%d jobs, %d decisions)\n",
                row["policy"].get<std::string>().c_str(), row["cpu_s"].get<double>(),
                row["jobs"].get<int>(), row["decisions"].get<int>());
  }
  std::printf("CPU milliseconds of a decision\n  %-8s %6s %6s %6s %9s %9s %9s\n", "policy", "jobs",
              "GPUs", "types", "mean", "median", "worst");
  for (const Json& row : json["decisions"]) {
    std::printf("  %-8s %6d %6d %6d %9.3f %9.3f %9.3f\n", row["policy"].get<std::string>().c_str(),
                row["jobs"].get<int>(), row["gpus"].get<int>(), row["types"].get<int>(),
                row["mean_ms"].get<double>(), row["p50_ms"].get<double>(),
                row["worst_ms"].get<double>());
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"bench goodput",
                            "CPU time of decisions and simulations of jobs that choose their batch",
                            [](CommandLine& line, const GlobalOptions& globals) {
                              auto out = std::make_shared<std::string>();
                              line.Option("-o,--out", *out,
                                          "write the figures as JSON to this file");
                              return [out, &globals] { return BenchGoodput(*out, globals); };
                            }}));

}  // namespace
}  // namespace allot
