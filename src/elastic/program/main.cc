// The program `allot-elastic`: see elastic/launcher.h, elastic/once.h and plans/job_plan.h.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/command_line.h"
#include "core/error.h"
#include "core/strings.h"
#include "elastic/launcher.h"
#include "elastic/once.h"
#include "plans/job_plan.h"

namespace {

void PrintPlan(const std::optional<std::string>& given,
               const std::optional<std::string>& framework) {
  std::string text = given ? *given : allot::PlanOfThisJob();
  if (framework) {
    const allot::StatedPlan stated = allot::ParsePlan(text, given ? "--plan" : "ALLOT_PLAN");
    text = allot::Join(allot::OptionsOf(*framework, stated), " ");
  }
  fmt::print("{}\n", text);
}

}  // namespace

int main(int argc, char** argv) {
  allot::CommandLine line("Runs elastic training programs in jobs of a Slurm cluster");
  std::vector<std::string> command;
  allot::CommandLine run = line.Command("run", "in a job's script: let workers run PROGRAM");
  run.Option("program", command, "PROGRAM and its arguments, after --").Required();
  allot::CommandLine once =
      line.Command("once", "in a job's script: run PROGRAM until it has completed once");
  once.Option("program", command, "PROGRAM and its arguments, after --").Required();
  allot::CommandLine worker = line.Command("worker", "in a worker job, which allot submits");
  int timeout = 120;
  worker.Option("--timeout", timeout, "seconds to wait for the script to write its order")
      .Duration()
      .NonNegative();
  allot::CommandLine plan =
      line.Command("plan", "in a job's script: print how the job's training is to be split");
  std::optional<std::string> framework;
  plan.Option("--for", framework, "print the options of this framework that split so")
      .OneOf(allot::PlanFrameworks());
  std::optional<std::string> given;
  plan.Option("--plan", given, "\"dp=8 tp=4 ...\" in place of the job's plan");
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  try {
    if (plan.given()) {
      PrintPlan(given, framework);
      return 0;
    }
    if (once.given()) return allot::RunOnce(std::move(command));
    return run.given() ? allot::RunUserJob(command)
                       : allot::RunWorker(std::chrono::seconds(timeout));
  } catch (const allot::Error& error) {
    fmt::print(stderr, "allot-elastic: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "allot-elastic: {}\n", error.what());
    return static_cast<int>(allot::ExitCode::kRunFailed);
  }
}
