#pragma once
// Shared by the workload tests: reads text in a format, and expects DataErrors of malformed text.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "workload/trace_reader.h"

namespace allot {

inline Workload ReadText(const std::string& format, const std::string& text, bool lenient = false,
                         ReadReport* report = nullptr) {
  ReadReport unwanted;
  return Registry<TraceFormat>::Global()
      .Get("trace format", format)
      .read(text, "t.csv", {.lenient = lenient}, report != nullptr ? report : &unwanted);
}

// "2 run time is 0 s; 1 never started": in order of first occurrence.
inline std::string Counts(const std::vector<DropCount>& counts) {
  std::string text;
  for (const DropCount& count : counts) {
    text += (text.empty() ? "" : "; ") + std::to_string(count.rows) + " " + count.reason;
  }
  return text;
}
inline std::string Drops(const ReadReport& report) { return Counts(report.drops); }
inline std::string Adjustments(const ReadReport& report) { return Counts(report.adjusted); }

// One malformed input: the parts are rule, value and place.
struct BadInput {
  std::string name;
  std::string text;
  std::vector<std::string> parts;
};

inline void ExpectBadData(const std::string& format, const std::vector<BadInput>& inputs) {
  for (const BadInput& input : inputs) {
    SCOPED_TRACE(input.name);
    ExpectError(ExitCode::kBadData, input.parts, [&] { ReadText(format, input.text); });
  }
}

// A file with these bytes, removed with the test.
class TempFile {
 public:
  TempFile(const std::string& name, std::string_view bytes) {
    path_ = folder_ / name;
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  std::string path() const { return path_.string(); }

 private:
  testing_support::TempFolder folder_;
  std::filesystem::path path_;
};

}  // namespace allot
