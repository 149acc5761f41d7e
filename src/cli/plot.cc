// allot plot: the report's figures as SVG files for papers.

#include "report/plot.h"

#include <cstdio>

#include "cli/command.h"
#include "core/json_text.h"

namespace allot {
namespace {

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "plot", "the figures of results as SVG and CSV files, for papers",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<PlotInput>();
          line.Option("results", o->results, "folder of an evaluation, a sweep or a training")
              .Required();
          line.Option("-o,--out", o->out, "folder for the files").Required();
          line.Option("--figure", o->figures,
                      "only this figure, see 'allot list figures' (repeatable)")
              .Repeatable();
          return [o, &globals] {
            const std::vector<std::string> paths = PlotFigures(*o);
            if (globals.json) {
              std::printf("%s\n", JsonText(nlohmann::ordered_json{{"figures", paths}}).c_str());
            } else if (!globals.quiet) {
              for (const std::string& path : paths) std::printf("%s\n", path.c_str());
            }
            return 0;
          };
        }}));

}  // namespace
}  // namespace allot
