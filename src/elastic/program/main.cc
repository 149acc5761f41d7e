// The program `allot-elastic`: see elastic/launcher.h.

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "core/command_line.h"
#include "core/error.h"
#include "elastic/launcher.h"

int main(int argc, char** argv) {
  allot::CommandLine line("Runs elastic training programs in jobs of a Slurm cluster");
  std::vector<std::string> command;
  allot::CommandLine run = line.Command("run", "in a job's script: have PROGRAM run by workers");
  run.Option("program", command, "PROGRAM and its arguments, behind --").Required();
  allot::CommandLine worker = line.Command("worker", "in a worker job, which allot submits");
  int timeout = 120;
  worker.Option("--timeout", timeout, "seconds to wait for the job's script to say what to run");
  worker.Renamed("--patience", "--timeout");
  if (const std::optional<int> code = line.Parse(argc, argv)) return *code;
  try {
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
