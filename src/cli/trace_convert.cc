// allot trace convert: any trace that allot reads, or a window of it, as an allot CSV.

#include <cstdio>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "core/error.h"
#include "core/json_text.h"
#include "experiment/world.h"
#include "metrics/evaluation.h"
#include "workload/write_csv.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "trace convert", "write the chosen window or sub-sample of a trace as an allot CSV",
        [](CommandLine& line, const GlobalOptions& globals) {
          struct Options {
            WorldSpec world;
            std::string out;
          };
          auto o = std::make_shared<Options>();
          DeclareWorld(line, o->world);
          // What says how jobs are run does not change a trace.
          line.Remove({"--workloads", "--profile", "--interval", "--restart-cost", "--launch-cost",
                       "--failures", "--node-events", "--speedup", "--length-estimates",
                       "--beliefs", "--progress"});
          line.Remove({"--workload"});
          line.Option("trace,-w,--workload", o->world.workload,
                      "trace file, 'embedded', or law:NAME")
              .ShowDefault();
          line.Exclude("setting", {"workload"});
          line.Option("-o,--out", o->out, "the CSV file (default: stdout)");
          return [o, &globals] {
            World world(o->world);
            const auto scenarios = world.Scenarios();
            const Workload& workload = scenarios.front().scenario->workload();
            RequireOut(o->out, globals);
            WriteAllotCsv(workload, o->out);
            if (globals.json) {
              nlohmann::ordered_json json{{"jobs", workload.jobs.size()}, {"out", o->out}};
              if (workload.drawn.jobs > 0) json["models_drawn"] = ToJson(workload.drawn);
              std::printf("%s\n", JsonText(json).c_str());
            }
            if (!globals.quiet) {
              std::fputs(world.ReadNote().c_str(), stderr);
              std::fprintf(stderr, "%zu jobs: %s\n", workload.jobs.size(),
                           o->out.empty() ? "stdout" : o->out.c_str());
              if (workload.drawn.jobs > 0) {
                std::fprintf(
                    stderr, "throughput models: drawn at random for %lld of them, from %s\n",
                    static_cast<long long>(workload.drawn.jobs), workload.drawn.from.c_str());
              }
            }
            return 0;
          };
        }}));

}  // namespace
}  // namespace allot
