#pragma once
// Worker processes on this machine that outlive the daemon. Each worker is the child of a keeper, a
// small process that leads a process group of its own, waits for the worker and writes down how it
// ended, so that a later daemon still learns it. Called by the runtime "local". No shell anywhere.

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace allot {

struct ProcessSpec {
  std::vector<std::string> command;                // looked up in PATH when it has no '/'
  std::map<std::string, std::string> environment;  // added to this process's
  std::filesystem::path directory;                 // to run in
  std::filesystem::path log;                       // stdout and stderr, appended
  std::filesystem::path exit_file;                 // "0", "17" or "signal 9", once it has ended
};

// A process by pid and start time, so that another one with its pid is never taken for it.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t started = 0;  // in clock ticks since the machine's start
};

// A keeper that waits for Go; destroyed before that, it ends without having started anything. In
// between, its id can be written down: a process that runs is always known.
class NewProcess {
 public:
  // RunError when the command cannot be found or the system refuses.
  explicit NewProcess(const ProcessSpec& spec);
  ~NewProcess();
  NewProcess(const NewProcess&) = delete;
  NewProcess& operator=(const NewProcess&) = delete;

  const ProcessId& id() const { return id_; }
  void Go();

 private:
  ProcessId id_;
  int go_ = -1;  // our end of what we share with the keeper
};

// Whether the keeper lives; collects it when it is our child and has ended.
bool Alive(const ProcessId& keeper);

// To the keeper's whole group; the keeper itself ends by SIGKILL only.
void Signal(const ProcessId& keeper, int signal);

// The exit file's text; nullopt while there is none.
std::optional<std::string> ExitText(const std::filesystem::path& exit_file);

}  // namespace allot
