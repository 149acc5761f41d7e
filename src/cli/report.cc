// allot report: evaluations and training curves as one HTML page.

#include "metrics/report.h"

#include <cstdio>

#include "cli/command.h"
#include "cli/version.h"
#include "core/json_text.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct ReportOptions {
  ReportInput input;
  std::string commands_file;
  std::string out = "report.html";
};

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{"report", "one self-contained HTML page from evaluations and training curves",
                 [](CLI::App& app, const GlobalOptions& globals) {
                   auto o = std::make_shared<ReportOptions>();
                   app.add_option(
                       "evaluations", o->input.evaluation_dirs,
                       "folders of evaluations or sweeps; the first evaluation makes the headline");
                   app.add_option("--training", o->input.training_dirs,
                                  "folders with curve.csv or pretrain.csv");
                   app.add_option("--title", o->input.title, "title of the page");
                   app.add_option("--date", o->input.date, "date to print");
                   app.add_option("--command", o->input.commands,
                                  "a command that made the results (repeatable)");
                   app.add_option("-o,--out", o->out, "the page")->capture_default_str();
                   return [o, &globals] {
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
