// Public traces as they were published (tests/data): every file is detected, read strictly and
// holds what its README counts. traces/samples has a few rows of each format.

#include "trace_testing.h"

namespace allot {
namespace {

struct Known {
  const char* file;
  const char* format;
  std::int64_t rows;
  std::string drops;
};

TEST(PublishedTraces, HoldWhatTheirReadmesCount) {
  const std::filesystem::path folder = ALLOT_TEST_DATA "/traces";
  const std::vector<Known> traces = {
      {"philly_103959.trace.gz", "gavel", 300, ""},
      {"23dbec.trace.gz", "gavel", 9, ""},
      {"physical_small_test.trace.gz", "gavel", 20, ""},
      {"philly_103959.csv.gz", "elasticflow", 300, ""},
      {"elasticVpollux_e.csv.gz", "elasticflow", 195, ""},
      {"60_job.csv.gz", "tiresias", 60, ""},
      {"workload-1.csv.gz", "pollux", 160, ""},
      {"workload-1.realistic.csv.gz", "pollux", 160, ""},
  };
  for (const Known& known : traces) {
    SCOPED_TRACE(known.file);
    ReadReport report;
    const Workload workload = ReadTrace((folder / known.file).string(), "auto", {}, &report);
    EXPECT_EQ(report.format, known.format);
    EXPECT_EQ(report.rows, known.rows);
    EXPECT_EQ(Drops(report), known.drops);
    EXPECT_EQ(static_cast<std::int64_t>(workload.jobs.size()), known.rows - report.dropped());
  }
}

// The same jobs by two ways: Gavel's steps and ElasticFlow's seconds of virtual cluster 103959.
TEST(PublishedTraces, GavelsStepsAndElasticFlowsSecondsAgree) {
  const std::filesystem::path folder = ALLOT_TEST_DATA "/traces";
  const Workload gavel = ReadTrace((folder / "philly_103959.trace.gz").string());
  const Workload seconds = ReadTrace((folder / "philly_103959.csv.gz").string());
  int compared = 0, differ = 0;
  for (const Job& job : gavel.jobs) {
    const Job* same = nullptr;
    int candidates = 0;
    for (const Job& other : seconds.jobs) {
      if (other.submit != job.submit || other.gpus != job.gpus) continue;
      ++candidates;
      same = &other;
    }
    if (candidates != 1) continue;
    ++compared;
    differ += std::abs(same->duration - job.duration) > 5 + 0.01 * same->duration;
  }
  EXPECT_GT(compared, 150);
  EXPECT_LT(differ, compared / 50);  // jobs of one second and size that only one trace holds
}

}  // namespace
}  // namespace allot
