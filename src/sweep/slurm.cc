#include "sweep/slurm.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

// One word of a POSIX shell, whatever it holds.
std::string ShellWord(const std::string& text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

void CheckOneLine(const std::string& what, const std::string& text) {
  if (text.find('\n') == std::string::npos) return;
  throw UsageError("{} must be one line, got '{}'", what, text);
}

}  // namespace

std::string SlurmScript(const SlurmArray& array) {
  const std::string folder = std::filesystem::absolute(array.folder).lexically_normal().string();
  CheckOneLine("the folder of a sweep on Slurm", folder);
  std::string script = "#!/bin/sh\n#SBATCH --job-name=allot-sweep\n";
  script += fmt::format("#SBATCH --array=1-{}\n", array.tasks);
  script += fmt::format("#SBATCH --cpus-per-task={}\n", array.threads);
  script += "#SBATCH --ntasks=1\n";
  script += fmt::format("#SBATCH --output=\"{}/slurm-%A_%a.log\"\n", folder);
  for (const std::string& option : array.options) {
    CheckOneLine("--slurm-option", option);
    script += fmt::format("#SBATCH {}{}\n", option.starts_with("-") ? "" : "--", option);
  }
  script += fmt::format(
      "\n# The definition is the sweep's own, so that every task runs the same cells.\n"
      "exec {} sweep {} --out {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --threads {} --quiet\n",
      ShellWord(array.program), ShellWord(folder + "/sweep.json"), ShellWord(folder), array.tasks,
      array.threads);
  return script;
}

std::string SubmitToSlurm(const std::filesystem::path& script) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw RunError("cannot run sbatch: {}", SystemMessage());
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string program = "sbatch";
  std::string parsable = "--parsable";
  std::string path = script.string();
  char* arguments[] = {program.data(), parsable.data(), path.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "sbatch", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    throw RunError(
        "--slurm needs the program 'sbatch' on PATH: {}; --slurm-script FILE only writes the "
        "script",
        SystemMessage(failed));
  }
  std::string answer;
  char buffer[256];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0) answer.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw RunError("sbatch refused '{}': exit code {}", path,
                   WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  return std::string(Trim(answer));
}

}  // namespace allot
