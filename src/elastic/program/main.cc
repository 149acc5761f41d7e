// The program `allot-elastic`: see elastic/launcher.h.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "elastic/launcher.h"

int main(int argc, char** argv) {
  CLI::App app("Runs elastic training programs in jobs of a Slurm cluster");
  app.require_subcommand(1);
  std::vector<std::string> command;
  CLI::App* run = app.add_subcommand("run", "in a job's script: have PROGRAM run by workers");
  run->add_option("program", command, "PROGRAM and its arguments, behind --")->required();
  CLI::App* worker = app.add_subcommand("worker", "in a worker job, which allot submits");
  int patience = 120;
  worker->add_option("--patience", patience, "seconds for the job's script to say what to run");
  CLI11_PARSE(app, argc, argv);
  try {
    return run->parsed() ? allot::RunHome(command)
                         : allot::RunWorker(std::chrono::seconds(patience));
  } catch (const allot::Error& error) {
    fmt::print(stderr, "allot-elastic: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "allot-elastic: {}\n", error.what());
    return static_cast<int>(allot::ExitCode::kRunFailed);
  }
}
