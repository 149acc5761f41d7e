// The full public traces, where ../shared/traces stands beside the repository: every file is
// detected, read strictly and holds what its README counts. Skipped elsewhere; traces/samples has a
// few rows of each format for everyone.

#include "trace_testing.h"

namespace allot {
namespace {

struct Known {
  const char* file;
  const char* format;
  std::int64_t rows;
  std::string drops;
};

TEST(SharedTraces, HoldWhatTheirReadmesCount) {
  const std::filesystem::path folder = ALLOT_SOURCE_DIR "/../shared/traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const std::vector<Known> traces = {
      {"philly-joined/philly_joined.csv.gz", "philly-joined", 111549, "10 run time is 0 s"},
      {"philly-jobs/philly_trace.csv.gz", "philly-jobs", 111549, "10 run time is 0 s"},
      {"philly-pass/philly.csv.gz", "philly-pass", 82247, ""},
      {"philly-attempts/philly_df_schedule.csv.gz", "philly-attempts", 151816, ""},
      {"philly-gavel-vc/103959.trace", "gavel", 986, ""},
      {"philly-gavel-vc/23dbec.trace", "gavel", 9, ""},
      {"philly-gavel-vc/2869ce.trace", "gavel", 533, ""},
      {"philly-gavel-vc/7f04ca.trace", "gavel", 972, ""},
      {"philly-gavel-vc/e13805.trace", "gavel", 607, ""},
      {"philly-gavel-vc/ed69ec.trace", "gavel", 951, ""},
      {"philly-gavel-vc/physical_small_test.trace", "gavel", 20, ""},
      {"philly-muri/trace1.csv", "muri", 1494, ""},
      {"philly-muri/trace2.csv", "muri", 5755, ""},
      {"philly-muri/trace3.csv", "muri", 992, ""},
      {"philly-muri/cluster_trace.csv", "muri", 400, ""},
      {"philly-elasticflow/philly_103959.csv", "elasticflow", 876, ""},
      {"philly-elasticflow/elasticVpollux_e.csv", "elasticflow", 195, ""},
      {"philly-chronus-deadlines/trace_job_Philly_MIX1.csv", "chronus", 30940,
       "184 no GPU requested"},
      {"tiresias/60_job.csv", "tiresias", 60, ""},
      {"pollux-workloads/workload-1.csv", "pollux", 160, ""},
      {"pollux-workloads/workload-1.realistic.csv", "pollux", 160, ""},
      {"pollux-workloads/workload-2.csv", "pollux", 160, ""},
      {"pollux-workloads/workload-3.csv", "pollux", 160, ""},
      {"pollux-workloads/workload-4.csv", "pollux", 160, ""},
      {"helios/helios_trace.until-2020-08-31.csv.gz", "service", 99707, ""},
      {"openb-2023/openb_pod_list_default.csv", "openb", 8152,
       "1088 no GPU requested; 861 never started"},  // 6,203 of 7,064 GPU pods ran
      {"openb-2023/openb_pod_list_gpuspec33.csv", "openb", 8152,
       "1088 no GPU requested; 861 never started"},
      {"pai-2020/alibaba_trace_sub.first42d.csv.gz", "service", 35716, ""},
      {"format-examples/philly_cluster_job_log.json", "philly", 1, ""},
      {"format-examples/helios_cluster_log.csv", "helios", 3, ""},
      {"format-examples/acme_trace_seren.csv", "acme", 2, ""},
      {"format-examples/acme_trace_kalos.csv", "acme", 2, ""},
      {"format-examples/pai_task_table.csv", "pai", 1, ""},
      {"format-examples/spot2026_job_info_df.csv", "spot", 4, ""},
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
TEST(SharedTraces, GavelsStepsAndElasticFlowsSecondsAgree) {
  const std::filesystem::path folder = ALLOT_SOURCE_DIR "/../shared/traces";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder;
  const Workload gavel = ReadTrace((folder / "philly-gavel-vc/103959.trace").string());
  const Workload seconds = ReadTrace((folder / "philly-elasticflow/philly_103959.csv").string());
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
  EXPECT_GT(compared, 700);
  EXPECT_LT(differ, compared / 50);  // jobs of one second and size that only one trace holds
}

}  // namespace
}  // namespace allot
