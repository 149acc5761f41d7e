// allot report: evaluations and training curves as one HTML page.

#include "report/report.h"

#include <cstdio>

#include "cli/command.h"
#include "core/json_text.h"
#include "core/version.h"
#include "core/writable.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct ReportOptions {
  ReportInput input;
  std::string out = "report.html";
};

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{"report", "one self-contained HTML page from evaluations and training curves",
                 [](CommandLine& line, const GlobalOptions& globals) {
                   auto o = std::make_shared<ReportOptions>();
                   line.Option(
                       "evaluations", o->input.evaluation_dirs,
                       "folders of evaluations or sweeps; the headline is of the first evaluation");
                   line.Option("--training", o->input.training_dirs,
                               "folders with curve.csv or pretrain.csv");
                   line.Option("--title", o->input.title, "title of the page");
                   line.Option("--date", o->input.date, "date to print");
                   line.Option("--command", o->input.commands,
                               "a command that made the results (repeatable)")
                       .Repeatable();
                   line.Option("-o,--out", o->out, "HTML file").ShowDefault();
                   return [o, &globals] {
                     RequireFilePath(o->out);
                     o->input.version = Version();
                     WriteReport(o->input, o->out);
                     if (globals.json)
                       std::printf("%s\n", JsonText(Json{{"report", o->out}}).c_str());
                     if (!globals.quiet)
                       std::fprintf(stderr, "report: %s (open it in a browser)\n", o->out.c_str());
                     return 0;
                   };
                 }}));

}  // namespace
}  // namespace allot
