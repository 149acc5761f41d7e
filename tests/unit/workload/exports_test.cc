// Small exports of schedulers, spreadsheets and databases (tests/data/exports), read as a user
// reads them: tables with the columns that `trace inspect` suggests. The numbers are worked out by
// hand from the files.

#include "table/column_guess.h"
#include "trace_testing.h"
#include "workload/formats/suggested_columns.h"

namespace allot {
namespace {

struct ExportCase {
  const char* file;
  std::size_t jobs;
  double gpu_hours;
  const char* first;  // submission
  const char* dropped;
};

std::string PathOfExport(const std::string& file) {
  return ALLOT_SOURCE_DIR "/tests/data/exports/" + file;
}

// "" of files in a known format.
std::string SuggestedMap(const std::string& path) {
  const auto suggested = SuggestColumns(path);
  return suggested ? suggested->json["columns"].get<std::string>() : "";
}

class Exports : public testing::TestWithParam<ExportCase> {};

TEST_P(Exports, JobsGpuHoursAndFirstSubmission) {
  const ExportCase& expected = GetParam();
  const std::string path = PathOfExport(expected.file);
  ReadReport report;
  const Workload workload = ReadTrace(path, "auto", {.columns = SuggestedMap(path)}, &report);
  EXPECT_EQ(workload.jobs.size(), expected.jobs);
  EXPECT_NEAR(workload.GpuSeconds() / 3600, expected.gpu_hours, 1e-6);
  EXPECT_EQ(workload.origin, expected.first);
  EXPECT_EQ(Drops(report), expected.dropped);
}

constexpr const char* kStepsAndOthers = "2 a step of a job (counted with it); 1 no GPU requested";

INSTANTIATE_TEST_SUITE_P(
    OfPeople, Exports,
    testing::Values(
        // 4 x 2.5 + 1 x 0.25 + 8 x 1.75
        ExportCase{"excel-de.csv", 3, 24.25, "2026-11-02 08:15:00", "1 run time is 0 s"},
        // 8 x 12,600 s + 1 x 900 s + 16 x 1,234,800 s
        ExportCase{"excel-unicode.txt", 3, 28 + 0.25 + 5488, "2026-11-02 08:15:00", ""},
        // 4 x 2 + 1 x 0.5 + 8 x 1.25; 46328.34375 is 8:15
        ExportCase{"excel-serial.csv", 3, 18.5, "2026-11-02 08:15:00", ""},
        // 2 x 3 + 0.5 + 1; tasks 3 to 9 of an array wait
        ExportCase{"sacct-20.11.txt", 10, 7.5, "2021-03-01 08:55:00", kStepsAndOthers},
        // 2 x 6.5 + 8 x 48 + 90 s + 12 min
        ExportCase{"sacct-22.05.txt", 4, 13 + 384 + 0.025 + 0.2, "2022-11-01 08:00:00",
                   "5 a step of a job (counted with it); 1 no GPU requested"},
        // 8 x 8 (the second run) + 0.5 + 4 x 2 + (2 + 1) x 1
        ExportCase{"sacct-24.05.txt", 4, 75.5, "2024-10-26 19:30:00",
                   "1 parts of GPUs only (MIG, shards, shared GPUs); 1 an earlier run of a "
                   "requeued or resized job; 1 a further component of a heterogeneous job (counted "
                   "with it)"},
        // 8 x 2 + 1 x 0.5
        ExportCase{"kubectl-daily.json", 2, 16.5, "2026-11-02 08:00:00",
                   "3 an earlier state of an object (the newest counts); 3 a pod of a job (counted "
                   "with it)"},
        // (2 + 2 x 2) x 119 min + 1 x 0.5
        ExportCase{"kueue-jobset.json", 2, 11.9 + 0.5, "2026-11-02 08:00:00",
                   "2 a Job of a JobSet or other controller (counted with it); 3 a pod of a job "
                   "(counted with it); 1 a Kueue Workload of a job (counted with it)"},
        // 2 x 5 (the night has 25 hours) + 4 x 0.5
        ExportCase{"pandas-zones.csv", 2, 12, "2026-10-24 23:30:00",
                   "1 never started; 1 no GPU requested"},
        // 8 x 1 + 4 x 0.25
        ExportCase{"database-ms.csv", 2, 9, "2026-11-01 10:00:00", "1 never started"},
        // 2 x 127.5 + 0.75 + 4 x 36
        ExportCase{"clocks-small.csv", 3, 255 + 0.75 + 144, "2026-11-02 10:00:00", ""}),
    [](const auto& one) {
      std::string name = one.param.file;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

TEST(ExportsRefused, WithTheLineAndWhatToDo) {
  const std::string serial = PathOfExport("excel-serial.csv");
  ExpectError(
      ExitCode::kBadData, {"times=excel", "46328.34375 to 46329.75", "excel-serial.csv:1"}, [&] {
        ReadTrace(serial, "auto", {.columns = "submit=submit,gpus=gpus,duration=runtime_h"});
      });
  const std::string clocks = PathOfExport("clocks-small.csv");
  ExpectError(
      ExitCode::kBadData, {"'job' must be a date or time", "23.11.2026", "'a1'", "csv:2"},
      [&] { ReadTrace(clocks, "auto", {.columns = "submit=job,gpus=gpus,duration=runtime"}); });
  ExpectError(ExitCode::kBadData,
              {"allot trace inspect", "job, submit, gpus", "clocks-small.csv:1"},
              [&] { ReadTrace(clocks); });
}

}  // namespace
}  // namespace allot
