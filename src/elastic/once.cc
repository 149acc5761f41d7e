#include "elastic/once.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core/error.h"
#include "elastic/job_folder.h"

namespace allot {
namespace {

constexpr int kSignalled = 128;  // the convention of shells

volatile std::sig_atomic_t sigterm_received = 0;

int WaitFor(pid_t program) {
  int status = 0;
  while (waitpid(program, &status, 0) < 0) {
    if (errno != EINTR) throw RunError("once: cannot wait for it: {}", SystemMessage());
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

}  // namespace

int RunOnce(std::vector<std::string> command) {
  const OwnedFolder folder = MakeJobFolder();
  if (folder.Has(kFinished)) {
    fmt::print("allot-elastic: the program completed at an earlier start: {}\n",
               (folder.path() / kFinished).string());
    return 0;
  }
  // Slurm signals all processes of a job. The program reacts as it likes; this process waits for
  // it.
  std::signal(SIGTERM, [](int) { sigterm_received = 1; });
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t program = 0;
  const int error =
      posix_spawnp(&program, arguments.front(), nullptr, nullptr, arguments.data(), environ);
  if (error != 0) {
    throw RunError("once: cannot run '{}': {}", command.front(), std::strerror(error));
  }
  const int code = WaitFor(program);
  if (code == 0 && sigterm_received == 0) folder.Write(kFinished, "");
  return code;
}

}  // namespace allot
