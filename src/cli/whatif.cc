// allot whatif: what another policy, more nodes or elastic jobs would change on a cluster.

#include "experiment/whatif/whatif.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/declare_world.h"
#include "cli/run_command.h"
#include "core/json_text.h"
#include "core/temporary_folder.h"
#include "core/version.h"
#include "core/writable.h"
#include "report/report.h"

namespace allot {
namespace {

struct WhatIfCommand {
  WhatIfOptions options;
  std::string out = "whatif.html";
  std::string keep;
};

int RunWhatIfCommand(WhatIfCommand& o, const GlobalOptions& globals) {
  const TemporaryFolder scratch("allot-whatif");
  o.options.experiment = OptionsOf(globals);
  o.options.experiment.out = o.keep.empty() ? scratch.path().string() : o.keep;
  o.options.on_note = [&globals](const std::string& note) {
    if (!globals.quiet) std::fputs(note.c_str(), stderr);
  };
  const WhatIfResult result = RunWhatIf(o.options);
  ReportInput report;
  report.title = "What if: " + result.what_if.workload;
  report.version = Version();
  report.commands = {o.options.experiment.command};
  report.evaluation_dirs = result.evaluations;
  report.kept = !o.keep.empty();
  report.headline_html = WhatIfHeadline(result.what_if);
  report.lead_html = WhatIfSections(result.what_if);
  WriteReport(report, o.out);
  std::printf("%s", globals.json ? (JsonText(ToJson(result.what_if)) + "\n").c_str()
                                 : WhatIfText(result.what_if).c_str());
  if (!globals.quiet) {
    std::fprintf(stderr, "report: %s (open it in a browser)\n", o.out.c_str());
    if (!o.keep.empty()) std::fprintf(stderr, "results: %s\n", o.keep.c_str());
  }
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "whatif", "what another policy, more nodes or elastic jobs would change on your cluster",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<WhatIfCommand>();
          o->options.world.profile = "event";   // decides like an online scheduler
          o->options.world.oversized = "drop";  // nodes may be drained today
          DeclareWorld(line, o->options.world, BareWord::kWorkload);
          line.Remove({"--workloads", "--setting"});
          line.Option("--present", o->options.present, "policy that stands for the present one")
              .ShowDefault();
          line.Option("-p,--policies", o->options.policies,
                      "alternatives, joined by commas; NAME=SPEC gives one a name")
              .ShowDefault();
          line.Option("--checkpoint", o->options.checkpoint,
                      "folder of a trained policy, another alternative");
          line.Option("--more-nodes", o->options.more_nodes,
                      "nodes to add, of the type that jobs ask for most, or parts of a cluster "
                      "(4x8:TYPE); 0: none")
              .DefaultText("a tenth of the cluster's, at least 1");
          line.Option("--target-wait", o->options.target_wait,
                      "search for the smallest number of nodes with which jobs wait so long on "
                      "average under the present policy: seconds, or 30m")
              .Duration();
          line.Option("--elastic-share", o->options.elastic_share,
                      "per cent of the GPU time that becomes elastic, 10,20,50: what it changes, "
                      "and whose jobs to begin with; with --elastic or --catalogue");
          line.Option("-o,--out", o->out, "HTML file").ShowDefault();
          line.Option("--keep", o->keep, "folder for the runs behind the page (default: none)");
          return [o, &line, &globals] {
            if (line.Given("cluster").empty()) {
              throw UsageError(
                  "whatif needs --cluster: a node list, as 'sinfo -N -o \"%N %G %c %m %t\"' or "
                  "'kubectl get nodes -o json' print it, or parts like 16x8");
            }
            RequireFilePath(o->out);
            return RunWhatIfCommand(*o, globals);
          };
        }}));

}  // namespace
}  // namespace allot
