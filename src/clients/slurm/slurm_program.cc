#include "clients/slurm/slurm_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "core/cpu_elsewhere.h"
#include "core/strings.h"

namespace allot {
namespace {

using Clock = SlurmDeadline::Clock;

constexpr std::size_t kMost = std::size_t{1} << 30;
constexpr int kNotFound = 127;
constexpr int kSignalled = 128;

// Both ends of a pipe, closed with it.
struct Pipe {
  std::array<int, 2> ends{-1, -1};

  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw RunError("pipe: {}", SystemMessage());
  }
  ~Pipe() {
    Close(0);
    Close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void Close(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec: only what a signal handler may call.
[[noreturn]] void Become(char* const* words, char* const* environment, int in, int out, int err) {
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  ::umask(S_IWGRP | S_IWOTH);
  ::execve(words[0], words, environment);
  ::_exit(kNotFound);
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

int MillisecondsUntil(Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left) + 1;
}

// Appends what there is to read; false at the end.
bool Take(int from, std::string* to) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::read(from, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  to->append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

// Until the program has closed both; false where it is late or says too much.
bool TakeAll(Pipe* out, Pipe* err, Clock::time_point deadline, SlurmProgramOutput* output) {
  while (out->ends[0] >= 0 || err->ends[0] >= 0) {
    std::array<pollfd, 2> both{pollfd{out->ends[0], POLLIN, 0}, pollfd{err->ends[0], POLLIN, 0}};
    const int ready = ::poll(both.data(), both.size(), MillisecondsUntil(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    if (both[0].revents != 0 && !Take(out->ends[0], &output->text)) out->Close(0);
    if (both[1].revents != 0 && !Take(err->ends[0], &output->errors)) err->Close(0);
    if (output->text.size() + output->errors.size() > kMost) return false;
  }
  return true;
}

}  // namespace

std::string LastLineOf(const SlurmProgramOutput& output) {
  std::string said;
  for (const std::string_view line : Split(output.errors, '\n')) {
    if (!Trim(line).empty()) said = Trim(line);
  }
  return said.empty() ? fmt::format("exit status {}", output.exit) : Printable(said);
}

std::optional<std::string> FindSlurmProgram(const std::filesystem::path& folder,
                                            const std::string& name) {
  std::vector<std::filesystem::path> folders = {folder};
  if (folder.empty()) {
    folders.clear();
    const char* path = std::getenv("PATH");
    for (const std::string_view one : Split(path == nullptr ? "/usr/bin" : path, ':')) {
      if (one.starts_with('/'))
        folders.emplace_back(one);  // else a job's folder could bring its own
    }
  }
  for (const std::filesystem::path& one : folders) {
    if (::access((one / name).c_str(), X_OK) == 0) return (one / name).string();
  }
  return std::nullopt;
}

std::vector<std::string> SlurmEnvironment() {
  std::vector<std::string> environment = {"LC_ALL=C", "SLURM_TIME_FORMAT=%s"};
  if (const char* path = std::getenv("PATH")) environment.push_back(fmt::format("PATH={}", path));
  if (const char* conf = std::getenv("SLURM_CONF")) {
    environment.push_back(fmt::format("SLURM_CONF={}", conf));
  }
  return environment;
}

Status RunSlurmProgram(const SlurmProgram& program, const SlurmDeadline& deadline,
                       SlurmProgramOutput* output) {
  *output = {};
  const std::vector<char*> words = Pointers(program.words);
  const std::vector<char*> environment = Pointers(program.environment);
  Pipe in;
  Pipe out;
  Pipe err;
  const pid_t child = ::fork();
  if (child < 0) return Status::Refused("slurm: {} cannot be run: {}", words[0], SystemMessage());
  if (child == 0) {
    Become(words.data(), environment.data(), in.ends[0], out.ends[1], err.ends[1]);
  }
  in.Close(0);
  out.Close(1);
  err.Close(1);
  // Nobody may read it: SIGPIPE is ignored by programs that serve.
  for (std::string_view rest = program.input; !rest.empty();) {
    const ssize_t wrote = ::write(in.ends[1], rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
  in.Close(1);
  const bool whole = TakeAll(&out, &err, deadline.at(), output);
  if (!whole) ::kill(child, SIGKILL);
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  AddCpuSecondsElsewhere(SecondsOf(used.ru_utime) + SecondsOf(used.ru_stime));
  if (!whole && output->text.size() + output->errors.size() > kMost) {
    return Status::Refused("slurm: {} must say at most {} bytes, it said more", words[0], kMost);
  }
  if (!whole) {
    return Status::Refused("slurm: the controller must answer within {} s, it did not",
                           deadline.patience());
  }
  output->exit = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  if (output->exit == kNotFound) return Status::Refused("slurm: {} is not a program", words[0]);
  return Status::Ok();
}

}  // namespace allot
