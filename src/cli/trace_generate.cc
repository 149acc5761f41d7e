// allot trace generate: a workload made by a law, as an allot CSV.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "core/counted.h"
#include "core/json_text.h"
#include "workload/arrival_law.h"
#include "workload/calendar.h"
#include "workload/write_csv.h"

namespace allot {
namespace {

struct GenerateOptions {
  std::string law;
  std::string out;
  std::optional<double> rate;
  int jobs = 1000;
  std::string tail = "0";
  std::uint64_t seed = 0;
};

int WriteGenerated(const GenerateOptions& o, const GlobalOptions& globals) {
  RequireOut(o.out, globals);
  const std::string named(LawName(o.law));
  const WorkloadLaw law = LawFrom(named.empty() ? o.law : named);
  const Workload workload = Generate(law, RateOf(law, o.rate), o.seed,
                                     {.jobs = o.jobs, .tail = ParseWhen(Workload{}, o.tail)});
  WriteAllotCsv(workload, o.out);
  if (globals.json) {
    const nlohmann::ordered_json json{{"jobs", workload.jobs.size()}, {"out", o.out}};
    std::printf("%s\n", JsonText(json).c_str());
  }
  if (!globals.quiet) {
    std::fprintf(stderr, "%s over %.1f days: %s\n",
                 Counted(std::ssize(workload.jobs), "job").c_str(), workload.Span() / 86400,
                 o.out.empty() ? "stdout" : o.out.c_str());
  }
  return 0;
}

ALLOT_REGISTER(CommandInfo,
               (CommandInfo{"trace generate", "write a workload made by a law as an allot CSV",
                            [](CommandLine& line, const GlobalOptions& globals) {
                              auto o = std::make_shared<GenerateOptions>();
                              line.Option("law,-w,--workload", o->law,
                                          "NAME, law:NAME, or NAME:PARAMETER=VALUE,...: see 'allot "
                                          "list laws'")
                                  .Required();
                              line.Option("--rate", o->rate,
                                          "jobs per hour (default: that of the law's trace)");
                              line.Option("--jobs", o->jobs, "number of jobs").ShowDefault();
                              line.Option("--tail", o->tail,
                                          "further arrivals for so long after the last of --jobs")
                                  .ShowDefault();
                              line.Option("--seed", o->seed, "same seed, same jobs").ShowDefault();
                              line.Option("-o,--out", o->out, "the CSV file (default: stdout)");
                              return [o, &globals] { return WriteGenerated(*o, globals); };
                            }}));

}  // namespace
}  // namespace allot
