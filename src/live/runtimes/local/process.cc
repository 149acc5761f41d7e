#include "live/runtimes/local/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "core/strings.h"

namespace allot {
namespace {

// All that the children need, made before the fork: between fork and exec of a program that may
// have threads, no memory may be allocated.
struct Prepared {
  std::string program, directory, log, exit_file, exit_part;
  std::vector<std::string> words, variables;
  std::vector<char*> argv, envp;
};

std::string FindProgram(const std::string& name, const std::filesystem::path& directory) {
  const auto runs = [](const std::filesystem::path& path) {
    return !std::filesystem::is_directory(path) && ::access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    const std::filesystem::path path = directory / name;
    if (runs(path)) return path.string();
  } else {
    const char* path = std::getenv("PATH");
    for (const std::string_view folder : Split(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
      if (runs(std::filesystem::path(folder) / name)) return std::string(folder) + "/" + name;
    }
  }
  throw DataError("a job's command must be a program, '{}' is none (in '{}')", name,
                  directory.string());
}

Prepared Prepare(const ProcessSpec& spec) {
  Prepared p;
  p.program = FindProgram(spec.command.at(0), spec.directory);
  p.directory = spec.directory.string();
  p.log = spec.log.string();
  p.exit_file = spec.exit_file.string();
  p.exit_part = p.exit_file + ".part";
  p.words = spec.command;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with("ALLOT_") && !spec.environment.contains(name)) {
      p.variables.emplace_back(text);
    }
  }
  for (const auto& [name, value] : spec.environment) {
    p.variables.push_back(fmt::format("{}={}", name, value));
  }
  for (std::string& word : p.words) p.argv.push_back(word.data());
  for (std::string& variable : p.variables) p.envp.push_back(variable.data());
  p.argv.push_back(nullptr);
  p.envp.push_back(nullptr);
  return p;
}

// "<text><number>\n" without the library.
void WriteEnd(int file, const char* text, int number) {
  char digits[16];
  std::size_t at = sizeof(digits);
  digits[--at] = '\n';
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  if (::write(file, text, std::strlen(text)) < 0) return;
  if (::write(file, digits + at, sizeof(digits) - at) < 0) return;
}

constexpr int kOfTheWorker[] = {SIGTERM, SIGINT, SIGHUP};

[[noreturn]] void BecomeWorker(const Prepared& p) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDONLY);
  const int log = ::open(p.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (null >= 0 && log >= 0 && ::dup2(null, 0) == 0 && ::dup2(log, 1) == 1 && ::dup2(log, 2) == 2 &&
      ::chdir(p.directory.c_str()) == 0) {
    ::close_range(3, ~0U, 0);
    ::execve(p.program.c_str(), p.argv.data(), p.envp.data());
  }
  ::_exit(127);
}

// Signals to the group are the worker's, those too that come before there is one: they are kept
// until then. One that comes just as it begins may reach it twice.
[[noreturn]] void BecomeKeeper(const Prepared& p, int go) {
  ::setsid();
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : kOfTheWorker) sigaddset(&ours, signal);
  sigprocmask(SIG_SETMASK, &ours, nullptr);
  // One that is ignored would not be kept.
  for (const int signal : kOfTheWorker) std::signal(signal, SIG_DFL);
  if (::write(go, "r", 1) != 1) ::_exit(0);  // from now on the group can be signalled
  ::prctl(PR_SET_NAME, "allot-keeper");
  // Nothing of the daemon's stays open here: its lock least of all.
  if (go != 3) ::dup2(go, 3);
  ::close_range(4, ~0U, 0);
  char byte = 0;
  if (::read(3, &byte, 1) != 1) ::_exit(0);  // the daemon did not say Go, or died
  ::close(3);
  const pid_t worker = ::fork();
  if (worker == 0) BecomeWorker(p);
  sigset_t kept;
  sigpending(&kept);
  for (const int signal : kOfTheWorker) {
    if (worker > 0 && sigismember(&kept, signal) == 1) ::kill(worker, signal);
  }
  int status = 0;
  while (worker > 0 && ::waitpid(worker, &status, 0) < 0 && errno == EINTR) {
  }
  const int file = ::open(p.exit_part.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (worker < 0) {
    WriteEnd(file, "", 126);
  } else if (WIFSIGNALED(status)) {
    WriteEnd(file, "signal ", WTERMSIG(status));
  } else {
    WriteEnd(file, "", WEXITSTATUS(status));
  }
  ::fsync(file);
  ::rename(p.exit_part.c_str(), p.exit_file.c_str());
  ::_exit(0);
}

// Of /proc/<pid>/stat; nullopt when there is no such process, or only its remains.
std::optional<std::uint64_t> StartOf(pid_t pid) {
  std::ifstream in(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t name_end = text.rfind(')');  // a name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  const auto fields = Split(Trim(std::string_view(text).substr(name_end + 1)), ' ');
  constexpr std::size_t kState = 0, kStartTime = 19;  // proc(5), counted from the third field
  if (fields.size() <= kStartTime || fields[kState] == "Z" || fields[kState] == "X") {
    return std::nullopt;
  }
  const auto start = ParseInteger(fields[kStartTime]);
  return start ? std::optional(static_cast<std::uint64_t>(*start)) : std::nullopt;
}

}  // namespace

NewProcess::NewProcess(const ProcessSpec& spec) {
  const Prepared prepared = Prepare(spec);
  int pipe[2];  // to both sides
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pipe) != 0) {
    throw RunError("no sockets: {}", SystemMessage());
  }
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    ::close(pipe[1]);
    BecomeKeeper(prepared, pipe[0]);
  }
  ::close(pipe[0]);
  go_ = pipe[1];
  if (keeper < 0) {
    const std::string why = SystemMessage();
    ::close(go_);
    throw RunError("no process for '{}': {}", prepared.program, why);
  }
  char ready = 0;
  while (::read(go_, &ready, 1) < 0 && errno == EINTR) {
  }
  id_ = {keeper, StartOf(keeper).value_or(0)};
}

NewProcess::~NewProcess() {
  if (go_ >= 0) ::close(go_);
}

void NewProcess::Go() {
  if (::send(go_, "g", 1, MSG_NOSIGNAL) != 1) throw RunError("process {} is gone already", id_.pid);
  ::close(std::exchange(go_, -1));
}

bool Alive(const ProcessId& keeper) {
  if (keeper.pid <= 0) return false;
  ::waitpid(keeper.pid, nullptr, WNOHANG);
  return StartOf(keeper.pid) == keeper.started;
}

void Signal(const ProcessId& keeper, int signal) {
  if (keeper.pid <= 0) return;
  const auto start = StartOf(keeper.pid);
  // A keeper that was killed leaves its group behind, under the same number.
  if (!start || *start == keeper.started) ::kill(-keeper.pid, signal);
}

std::optional<std::string> ExitText(const std::filesystem::path& exit_file) {
  std::ifstream in(exit_file);
  std::string text;
  if (!in || !std::getline(in, text)) return std::nullopt;
  return text;
}

}  // namespace allot
