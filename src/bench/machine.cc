#include "bench/machine.h"

#include <cmath>
#include <cstdlib>
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

double LoadAverage() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : NAN;
}

nlohmann::ordered_json BenchMachine() {
  return {{"cpu", ProcessorName()},
          {"cores", std::thread::hardware_concurrency()},
          {"load", LoadAverage()}};
}

}  // namespace allot
