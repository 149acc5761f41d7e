// allot trace convert: any trace that allot reads, or a window of it, as an allot CSV or as SWF.

#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "core/counted.h"
#include "core/error.h"
#include "core/json_text.h"
#include "core/output_text.h"
#include "experiment/workload_cache.h"
#include "experiment/world.h"
#include "metrics/evaluation.h"
#include "workload/write_csv.h"
#include "workload/write_swf.h"

namespace allot {
namespace {

constexpr const char* kSwf = "swf";

// Returns what the format cannot express. `cluster` is the one of the command line, if given.
std::vector<std::string> WriteWorkload(const Workload& workload, const std::string& format,
                                       const std::optional<ClusterSpec>& cluster,
                                       const std::string& path) {
  if (format != kSwf) {
    WriteAllotCsv(workload, path);
    return {};
  }
  std::optional<SwfMachine> machine;
  if (cluster) machine = {static_cast<int>(cluster->nodes().size()), cluster->total().gpus};
  std::vector<std::string> notes;
  WriteOutput(path, "the workload",
              [&](std::ostream& out) { notes = WriteSwf(workload, machine, out); });
  return notes;
}

// A trace that is only written need not fit the default cluster.
std::string LargeEnough(const WorldSpec& spec, WorkloadCache* cache) {
  constexpr GpuCount kNodeGpus = 8;
  GpuCount most = 1;
  World world(spec, cache);
  for (const Job& job : world.trace().jobs) most = std::max(most, job.gpus);
  const GpuCount gpus = std::max(most, world.cluster().total().gpus);
  return fmt::format("{}x{}", (gpus + kNodeGpus - 1) / kNodeGpus, kNodeGpus);
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "trace convert", "write the chosen window or sub-sample of a trace as an allot CSV or SWF",
        [](CommandLine& line, const GlobalOptions& globals) {
          struct Options {
            WorldSpec world;
            std::string out;
            std::string to = "csv";
          };
          auto o = std::make_shared<Options>();
          DeclareWorld(line, o->world);
          // Options of the simulation do not change a trace.
          line.Remove({"--workloads", "--profile", "--interval", "--restart-cost", "--launch-cost",
                       "--failures", "--failure-mode", "--checkpoints", "--node-events",
                       "--services", "--lend", "--recall-notice", "--speedup", "--length-estimates",
                       "--beliefs", "--progress"});
          line.Remove({"--workload"});
          line.Option("trace,-w,--workload", o->world.workload,
                      "trace file, 'embedded', or law:NAME")
              .ShowDefault();
          line.Exclude("setting", {"workload"});
          line.Option("-o,--out", o->out, "the file (default: stdout)");
          line.Option("--write-as", o->to,
                      "csv: allot's own; swf: of the Parallel Workloads Archive, each GPU a "
                      "processor, with MaxProcs where --cluster is given")
              .OneOf({"csv", kSwf})
              .DefaultText("swf where --out ends with .swf, else csv");
          return [o, &globals, &line] {
            WorkloadCache cache;  // the trace is read once
            const bool named_cluster = !line.Given("cluster").empty();
            const bool fits_any =
                o->world.loads.empty() && o->world.setting.empty() && o->world.oversized == "error";
            if (!named_cluster && fits_any) {
              o->world.cluster = LargeEnough(o->world, &cache);
            }
            World world(o->world, &cache);
            const auto scenarios = world.Scenarios();
            const Workload& workload = scenarios.front().scenario->workload();
            RequireOut(o->out, globals);
            const bool said = !line.Given("write-as").empty();
            const std::string format = !said && o->out.ends_with(".swf") ? kSwf : o->to;
            std::optional<ClusterSpec> cluster;
            if (named_cluster) cluster = world.cluster();
            const auto notes = WriteWorkload(workload, format, cluster, o->out);
            if (globals.json) {
              nlohmann::ordered_json json{{"jobs", workload.jobs.size()}, {"out", o->out}};
              if (workload.drawn.jobs > 0) json["models_drawn"] = ToJson(workload.drawn);
              if (!notes.empty()) json["notes"] = notes;
              std::printf("%s\n", JsonText(json).c_str());
            }
            if (!globals.quiet) {
              std::fputs(world.ReadNote().c_str(), stderr);
              std::fprintf(stderr, "%s: %s\n", Counted(std::ssize(workload.jobs), "job").c_str(),
                           o->out.empty() ? "stdout" : o->out.c_str());
              for (const std::string& note : notes) {
                std::fprintf(stderr, "note: %s\n", note.c_str());
              }
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
