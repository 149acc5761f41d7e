#include "cli/bench_machine.h"

#include <ctime>
#include <thread>

#include "core/file.h"
#include "core/strings.h"

namespace allot {
namespace {

std::string ProcessorName() {
  const std::string text = ReadTextFile("/proc/cpuinfo");
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with("model name")) return std::string(Trim(line.substr(line.find(':') + 1)));
  }
  return "unknown";
}

}  // namespace

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

nlohmann::ordered_json BenchMachine() {
  return {{"cpu", ProcessorName()}, {"cores", std::thread::hardware_concurrency()}};
}

}  // namespace allot
