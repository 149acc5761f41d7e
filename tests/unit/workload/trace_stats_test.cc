#include "workload/trace_stats.h"

#include <nlohmann/json.hpp>

#include "trace_testing.h"
#include "workload/trace_stats_text.h"

namespace allot {
namespace {

// Four jobs: submits 0, 3600, 3600, 10800 from 22:30; GPUs 1, 2, 4, 32; durations 100 .. 400.
Workload Four() {
  return ReadText(
      "allot",
      "job_id,submit_s,gpus,duration_s,user,outcome\n"
      "a,0,1,100,x,passed\nb,3600,2,200,y,killed\nc,3600,4,300,x,passed\nd,10800,32,400,x,\n");
}

TEST(TraceStats, CountsAndRates) {
  const TraceStats stats = ComputeTraceStats(Four());
  EXPECT_EQ(stats.jobs, 4);
  EXPECT_EQ(stats.span, 10800);
  EXPECT_DOUBLE_EQ(stats.gpu_hours, (100 + 400 + 1200 + 12800) / 3600.0);
  EXPECT_DOUBLE_EQ(stats.arrivals_per_hour, 1.0);
  EXPECT_DOUBLE_EQ(stats.offered_gpus,
                   (100 + 400 + 1200) / 10800.0);  // d begins when the span ends
  EXPECT_DOUBLE_EQ(stats.mean_gpus, 39 / 4.0);
  EXPECT_EQ(stats.max_gpus, 32);
  EXPECT_EQ(stats.users, 2);
  EXPECT_EQ(stats.tenants, 0);
}

TEST(TraceStats, QuantilesInterpolateAsNumpyDoes) {
  const Distribution duration = ComputeTraceStats(Four()).duration;
  EXPECT_DOUBLE_EQ(duration.p5, 115);  // numpy.quantile([100, 200, 300, 400], 0.05)
  EXPECT_DOUBLE_EQ(duration.p25, 175);
  EXPECT_DOUBLE_EQ(duration.p50, 250);
  EXPECT_DOUBLE_EQ(duration.p99, 397);
  EXPECT_DOUBLE_EQ(duration.max, 400);
  EXPECT_DOUBLE_EQ(duration.mean, 250);
  EXPECT_DOUBLE_EQ(duration.cv, std::sqrt(12500.0) / 250);
}

TEST(TraceStats, ListsTheGpuTypesThatJobsAsk) {
  EXPECT_TRUE(ComputeTraceStats(Four()).by_type.empty());
  const TraceStats stats = ComputeTraceStats(
      ReadText("allot",
               "job_id,submit_s,gpus,duration_s,gpu_type\na,0,1,100,A100\nb,1,1,100,v100\n"
               "c,2,3,100,v100\nd,3,1,50,\n"));
  ASSERT_EQ(stats.by_type.size(), 3U);
  EXPECT_EQ(stats.by_type[0].label, "v100");
  EXPECT_EQ(stats.by_type[0].jobs, 2);
  EXPECT_EQ(stats.by_type[0].gpu_seconds, 400);
  EXPECT_EQ(stats.by_type[1].label, "A100");
  EXPECT_EQ(stats.by_type[2].label, "any");
  EXPECT_NE(FormatTraceStats(stats, {}).find("GPU type"), std::string::npos);
}

TEST(TraceStats, GapsAreBetweenSuccessiveSubmissions) {
  const Distribution gap = ComputeTraceStats(Four()).gap;
  EXPECT_DOUBLE_EQ(gap.mean, 3600);
  EXPECT_DOUBLE_EQ(gap.max, 7200);
}

TEST(TraceStats, SharesByGpusAndOutcome) {
  const TraceStats stats = ComputeTraceStats(Four());
  std::string text;
  for (const JobGroup& group : stats.by_gpus)
    text += fmt::format("{}:{} ", group.label, group.jobs);
  for (const JobGroup& group : stats.by_outcome)
    text += fmt::format("{}:{} ", group.label, group.jobs);
  EXPECT_EQ(text, "1:1 2:1 3-4:1 5-8:0 9-16:0 >16:1 passed:2 killed:1 unreported:1 ");
  EXPECT_DOUBLE_EQ(stats.by_gpus[5].gpu_time_share, 12800 / 14500.0);
  EXPECT_DOUBLE_EQ(stats.by_outcome[0].job_share, 0.5);
}

TEST(TraceStats, HoursFollowTheCalendar) {
  Workload workload = Four();
  EXPECT_DOUBLE_EQ(ComputeTraceStats(workload).hour_of_day[1],
                   12);  // two of four jobs; the mean is 1
  workload.origin = "2017-10-30 22:30:00";
  const auto hours = ComputeTraceStats(workload).hour_of_day;
  EXPECT_DOUBLE_EQ(hours[22], 6);
  EXPECT_DOUBLE_EQ(hours[23], 12);
  EXPECT_DOUBLE_EQ(hours[1], 6);
}

TEST(TraceStats, OneJobHasNoRatesAndNullsInJson) {
  const nlohmann::json json = nlohmann::json::parse(
      nlohmann::json(
          ComputeTraceStats(ReadText("allot", "job_id,submit_s,gpus,duration_s\na,0,1,9\n")))
          .dump());
  EXPECT_TRUE(json.at("arrivals_per_hour").is_null());
  EXPECT_TRUE(json.at("gap_s").at("p50").is_null());
  EXPECT_EQ(json.at("duration_s").at("p50"), 9);
}

TEST(TraceStats, NoJobsAreHarmless) {
  const TraceStats stats = ComputeTraceStats(Workload());
  EXPECT_EQ(stats.jobs, 0);
  EXPECT_FALSE(FormatTraceStats(stats, {}).empty());
}

TEST(FormatTraceStats, TellsSizeLoadAndWhatWasLeftOut) {
  ReadReport report;
  const std::string text =
      FormatTraceStats(ComputeTraceStats(ReadTrace("embedded", "auto", {}, &report)), report);
  for (const char* part : {"philly-2017-4weeks (format philly-joined)", "2017-10-30 00:01:45",
                           "30,256", "27d 23h", "1,175,799 GPU-hours", "81.7%",
                           "2 of 30,258 records", "run time is 0 s (first: embedded:6238)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in:\n" << text;
  }
}

TEST(FormatTraceStats, LinesHaveNoTrailingSpaceAndFitTheTerminal) {
  const std::string text = FormatTraceStats(ComputeTraceStats(ReadTrace("embedded")), {});
  for (const std::string_view line : Split(text, '\n')) {
    EXPECT_FALSE(line.ends_with(' ')) << line;
    std::ptrdiff_t columns = 0;  // UTF-8 continuation bytes take no room
    for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    EXPECT_LE(columns, 100) << line;
  }
}

}  // namespace
}  // namespace allot
