// allot bench serve: the CPU time of a decision of a daemon with many live jobs, including the
// daemon's checks; with --plugin through the C interface of that library too. Also checks that
// memory does not grow.

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/machine.h"
#include "bench/serving.h"
#include "cli/command.h"
#include "cli/typed_command.h"
#include "core/file.h"
#include "core/version.h"
#include "plugin/plugin_policy.h"
#include "workload/history_file.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct ServingOptions {
  int jobs = 1000;
  int decisions = 1000;
  std::string policy = "index";
  std::string checkpoint;
  std::optional<std::string> plugin;  // none: the policy is asked directly only
  std::string out;
};

int BenchServe(const ServingOptions& o, const GlobalOptions& globals) {
  const std::string spec = o.checkpoint.empty() ? o.policy : "learned:checkpoint=" + o.checkpoint;
  Json json = {{"command", TypedCommand()},
               {"version", Version()},
               {"machine", BenchMachine()},
               {"jobs", o.jobs},
               {"direct", MeasureServing(MakePolicy(spec, FileLoader()), o.jobs, o.decisions)}};
  if (o.plugin) {
    json["plugin"] = MeasureServing(MakePluginPolicy(*o.plugin, spec), o.jobs, o.decisions);
  }
  if (!o.out.empty()) WriteTextFile(o.out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("CPU milliseconds of a decision at %d jobs, and resident memory in MB\n", o.jobs);
  std::printf("%-8s %10s %8s %8s %8s %8s %8s\n", "", "decisions", "median", "p99", "worst",
              "before", "after");
  for (const char* row : {"direct", "plugin"}) {
    if (!json.contains(row)) continue;
    const Json& of = json.at(row);
    const auto number = [&](const char* key) { return of.at(key).get<double>(); };
    std::printf("%-8s %10d %8.3f %8.3f %8.3f %8.1f %8.1f\n", row, of.at("decisions").get<int>(),
                number("median_ms"), number("p99_ms"), number("worst_ms"),
                number("resident_mb_before"), number("resident_mb_after"));
  }
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "bench serve", "CPU time and memory of a daemon's decisions",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ServingOptions>();
          line.Option("--jobs", o->jobs, "number of live jobs").Range(1, 1000000).ShowDefault();
          line.Option("--decisions", o->decisions, "number of decisions that are measured")
              .Range(1, 100000000)
              .ShowDefault();
          line.Option("-p,--policy", o->policy, "policy that decides").ShowDefault();
          line.Option("--checkpoint", o->checkpoint, "or a trained policy: its checkpoint folder");
          line.Option("--plugin", o->plugin,
                      "measure through the C interface of this shared library too");
          line.Option("-o,--out", o->out, "write the figures as JSON to this file");
          return [o, &globals] { return BenchServe(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
