// allot trace inspect: what is in a trace, what was dropped and why.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/json_text.h"
#include "experiment/world.h"
#include "workload/trace_stats.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "trace inspect", "jobs, span, demand and run times of a trace, and what was dropped",
        [](CommandLine& line, const GlobalOptions& globals) {
          struct Options {
            std::string path = "embedded";
            std::string format = "auto";
            bool lenient = false;
          };
          auto o = std::make_shared<Options>();
          line.Option("trace,-w,--workload", o->path, "trace file, or 'embedded'").ShowDefault();
          line.Option("--format", o->format, "trace format, see 'allot list formats'")
              .ShowDefault();
          line.Flag("--lenient", o->lenient, "drop and count malformed rows instead of stopping");
          return [o, &globals] {
            ReadReport report;
            const Workload workload =
                ReadTrace(o->path, o->format, {.lenient = o->lenient}, &report);
            const TraceStats stats = ComputeTraceStats(workload);
            if (globals.json) {
              nlohmann::json json = stats;
              json["read"] = report;
              std::printf("%s\n", JsonText(json).c_str());
            } else {
              std::printf("%s", FormatTraceStats(stats, report).c_str());
            }
            return 0;
          };
        }}));

}  // namespace
}  // namespace allot
