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
  std::set<std::string> ids;
  for (const TraceFormat& format : Registry<TraceFormat>::Global().entries()) {
    if (!format.any_table) ids.insert(format.id);
  }
  EXPECT_EQ(detected, ids);
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
      if (other.variant_of == report.format || other.any_table) continue;
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

// The sample with a record after its first one that no format knows, and where that stands.
std::pair<std::string, std::string> WithBrokenRecord(const std::string& text) {
  if (text.front() == '[') return {"[{\"broken\": 1}," + text.substr(1), "broken.x:1"};
  for (const char* list : {"\"items\": [", "\"jobs\": ["}) {
    const std::size_t items = text.find(list);
    if (items == std::string::npos) continue;
    const std::size_t at = text.find('[', items) + 1;
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return {text.substr(0, at) + "{\"broken\": 1}," + text.substr(at),
            "broken.x:" + std::to_string(line)};
  }
  const std::size_t second = text.find('\n', text.find('\n') + 1) + 1;
  return {text.substr(0, second) + "broken\n" + text.substr(second), "broken.x:3"};
}

// As ReadTrace reads it, but from memory.
Workload ReadText(const std::string& path, const std::string& text, bool lenient,
                  ReadReport* report) {
  ReadReport found;
  ReadTrace(path, "auto", {}, &found);
  const TraceFormat& format = Registry<TraceFormat>::Global().Get("trace format", found.format);
  ReadOptions options{.lenient = lenient};
  std::string companion;
  if (format.companion) options.companion_path = format.companion(path);
  if (!options.companion_path.empty()) {
    companion = ReadTextFile(options.companion_path);
    options.companion_text = companion;
  }
  return format.read(text, "broken.x", options, report);
}

TEST(TraceConformanceTest, ABrokenRecordStopsTheReadWithItsLine) {
  for (const std::string& path : Samples()) {
    SCOPED_TRACE(path);
    const auto broken = WithBrokenRecord(ReadTextFile(path));
    ReadReport report;
    ExpectError(ExitCode::kBadData, {broken.second},
                [&] { ReadText(path, broken.first, false, &report); });
  }
}

TEST(TraceConformanceTest, LenientReadsDropTheBrokenRecordAndCountIt) {
  for (const std::string& path : Samples()) {
    SCOPED_TRACE(path);
    const auto [text, place] = WithBrokenRecord(ReadTextFile(path));
    ReadReport whole, broken;
    const Workload expected = ReadText(path, ReadTextFile(path), true, &whole);
    const Workload read = ReadText(path, text, true, &broken);
    EXPECT_EQ(broken.rows, whole.rows + 1);
    ASSERT_EQ(broken.dropped(), whole.dropped() + 1);
    const auto malformed =
        std::find_if(broken.drops.begin(), broken.drops.end(),
                     [](const DropCount& drop) { return drop.reason.starts_with("malformed: "); });
    ASSERT_NE(malformed, broken.drops.end());
    EXPECT_EQ(malformed->rows, 1);
    EXPECT_EQ(malformed->example, place);
    ASSERT_EQ(read.jobs.size(), expected.jobs.size());
    for (std::size_t i = 0; i < read.jobs.size(); ++i) {  // ids may count rows
      EXPECT_EQ(read.jobs[i].submit, expected.jobs[i].submit) << "job " << i;
      EXPECT_EQ(read.jobs[i].gpus, expected.jobs[i].gpus) << "job " << i;
      EXPECT_EQ(read.jobs[i].duration, expected.jobs[i].duration) << "job " << i;
    }
  }
}

TEST(TraceConformanceTest, JobsKnowTheirLines) {
  for (const std::string& path : Samples()) {
    const Workload workload = ReadTrace(path);
    for (const Job& job : workload.jobs) {
      EXPECT_TRUE(workload.PlaceOf(job).starts_with(" (" + path + ":")) << workload.PlaceOf(job);
    }
  }
}

}  // namespace
}  // namespace allot
