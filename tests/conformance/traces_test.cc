// What must hold for every registered trace format, on the samples in traces/samples. A new format
// brings a sample, or this fails.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

std::vector<std::string> Samples() {
  std::vector<std::string> paths;
  const std::filesystem::path folder =
      std::filesystem::path(ALLOT_SOURCE_DIR) / "traces" / "samples";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path().string());
  }
  std::set<std::string> companions;  // second files, no traces of their own
  for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
    if (!format.companion) continue;
    for (const std::string& path : paths) companions.insert(format.companion(path));
  }
  std::erase_if(paths, [&](const std::string& path) { return companions.contains(path); });
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(TraceConformanceTest, EveryFormatHasASampleThatIsDetectedAsIts) {
  std::set<std::string> detected;
  for (const std::string& path : Samples()) {
    ReadReport report;
    ReadTrace(path, "auto", {}, &report);
    detected.insert(report.format);
  }
  const auto ids = Registry<TraceFormat>::Global().ids();
  EXPECT_EQ(detected, std::set<std::string>(ids.begin(), ids.end()));
}

TEST(TraceConformanceTest, TheOtherFormatsAreLessSureAndRefuseIt) {
  for (const std::string& path : Samples()) {
    ReadReport report;
    ReadTrace(path, "auto", {}, &report);
    const std::string text = ReadTextFile(path);
    const auto& registry = Registry<TraceFormat>::Global();
    const int own = registry.Get("trace format", report.format).detect(text);
    for (const TraceFormat& other : registry.entries()) {
      if (other.id == report.format) continue;
      EXPECT_LT(other.detect(text), own) << path << " as " << other.id;
      ExpectError(ExitCode::kBadData, {path}, [&] { ReadTrace(path, other.id); });
    }
  }
}

TEST(TraceConformanceTest, JobsAreSortedUniqueAndPositive) {
  for (const std::string& path : Samples()) {
    ReadReport report;
    const Workload workload = ReadTrace(path, "auto", {}, &report);
    EXPECT_EQ(report.rows, static_cast<std::int64_t>(workload.jobs.size()) + report.dropped())
        << path;
    std::set<std::string> ids;
    Seconds last = 0;
    for (const Job& job : workload.jobs) {
      EXPECT_TRUE(ids.insert(job.id).second) << path << ": " << job.id;
      EXPECT_GE(job.submit, last) << path << ": " << job.id;
      EXPECT_GE(job.gpus, 1) << path << ": " << job.id;
      EXPECT_GT(job.duration, 0) << path << ": " << job.id;
      last = job.submit;
    }
  }
}

}  // namespace
}  // namespace allot
