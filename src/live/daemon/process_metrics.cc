#include "live/daemon/process_metrics.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/wall_clock.h"

namespace allot {
namespace {

double ClockSeconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Field 22 of /proc/self/stat is in ticks since the machine's start. The result is cached, so that
// a change of the wall clock does not look like a new process.
double StartedAt() {
  static const double at = [] {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text, ')');  // the program's name may contain any other character
    for (int field = 3; field < 22; ++field) file >> text;
    double ticks = 0;
    file >> ticks;
    return WallSeconds() - ClockSeconds(CLOCK_BOOTTIME) +
           ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }();
  return at;
}

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double OpenFiles() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  return error ? 0 : static_cast<double>(std::distance(begin(files), end(files)));
}

}  // namespace

void AddProcessMetrics(MetricText* text) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  text->Gauge("process_start_time_seconds", "Unix time at which the daemon started")
      .Value(StartedAt())
      .Counter("process_cpu_seconds_total", "CPU time of the daemon")
      .Value(ClockSeconds(CLOCK_PROCESS_CPUTIME_ID))
      .Gauge("process_resident_memory_bytes", "memory of the daemon")
      .Value(ResidentBytes())
      .Gauge("process_open_fds", "open files and connections of the daemon")
      .Value(OpenFiles())
      .Gauge("process_max_fds", "limit on open files and connections")
      .Value(static_cast<double>(files.rlim_cur));
}

}  // namespace allot
