#include "workload/trace_reader.h"

#include "trace_testing.h"
#include "workload/embedded_files.h"

namespace allot {
namespace {

constexpr const char* kSamples = ALLOT_SOURCE_DIR "/traces/samples/";

TEST(ReadTrace, DetectsEachSample) {
  const std::vector<std::pair<std::string, std::string>> samples = {
      {"acme_kalos.csv", "acme"},
      {"acme_seren.csv", "acme"},
      {"chronus.csv", "chronus"},
      {"elasticflow.csv", "elasticflow"},
      {"gavel.trace", "gavel"},
      {"gavel_philly.trace", "gavel"},
      {"gavel_steps.csv", "gavel-steps"},
      {"helios_cluster_log.csv", "helios"},
      {"invented.csv", "allot"},
      {"live_journal.jsonl", "live-journal"},
      {"muri.csv", "muri"},
      {"openb_pods.csv", "openb"},
      {"pai_task_table.csv", "pai"},
      {"philly_attempts.csv", "philly-attempts"},
      {"philly_cluster_job_log.json", "philly"},
      {"philly_joined.csv", "philly-joined"},
      {"philly_pass.csv", "philly-pass"},
      {"philly_trace.csv", "philly-jobs"},
      {"pollux.csv", "pollux"},
      {"service.csv", "service"},
      {"spot.csv", "spot"},
      {"tiresias.csv", "tiresias"}};
  for (const auto& [file, format] : samples) {
    ReadReport report;
    ReadTrace(kSamples + file, "auto", {}, &report);
    EXPECT_EQ(report.format, format) << file;
  }
}

TEST(ReadTrace, NamesTheWorkloadAfterTheFile) {
  EXPECT_EQ(ReadTrace(kSamples + std::string("invented.csv")).name, "invented");
  EXPECT_EQ(ReadTrace("embedded").name, "philly-2017-4weeks");
}

TEST(ReadTrace, ReportCanBeUsedTwice) {
  ReadReport report;
  ReadTrace(kSamples + std::string("invented.csv"), "", {}, &report);
  ReadTrace(kSamples + std::string("invented.csv"), "", {}, &report);
  EXPECT_EQ(report.rows, 20);
}

TEST(ReadTrace, ReadsGzipByContent) {
  const TempFile file("trace.csv", FindEmbeddedTrace("embedded")->gzip);
  EXPECT_EQ(ReadTrace(file.path()).jobs.size(), 30256u);
}

TEST(ReadTrace, TruncatedGzipIsBadData) {
  const std::string_view whole = FindEmbeddedTrace("embedded")->gzip;
  const TempFile file("trace.csv.gz", whole.substr(0, whole.size() / 2));
  ExpectError(ExitCode::kBadData, {"cut short", "168500", "trace.csv.gz"},
              [&] { ReadTrace(file.path()); });
}

TEST(ReadTrace, AbsentFileIsBadData) {
  ExpectError(ExitCode::kBadData, {"/nowhere/t.csv", "embedded-openb"},
              [] { ReadTrace("/nowhere/t.csv"); });
}

TEST(ReadTrace, UnknownFormatHasASuggestion) {
  ExpectError(ExitCode::kUsage, {"'philly-joint'", "did you mean 'philly-joined'"},
              [] { ReadTrace("embedded", "philly-joint"); });
}

TEST(ReadTrace, UnrecognisedFileShowsItsBeginning) {
  const TempFile file("t.txt", "\x01\x02hello\nworld");
  ExpectError(ExitCode::kBadData, {"philly-joined, philly-pass", "'\\x01\\x02hello'", "t.txt:1"},
              [&] { ReadTrace(file.path()); });
}

TEST(ReadTrace, EmptyFileIsBadData) {
  const TempFile file("t.csv", "");
  ExpectError(ExitCode::kBadData, {"must not be empty", "0 bytes", "t.csv:1"},
              [&] { ReadTrace(file.path()); });
}

TEST(ReadTrace, ATraceWithoutJobsIsBadData) {
  const std::vector<std::pair<std::string, std::string>> traces = {
      {"header only, allot", "job_id,submit_s,gpus,duration_s\n"},
      {"header only, philly-joined",
       "job_index,submit_time,submit_offset_s,duration_s,num_gpus,gpus_per_server,passed,vc\n"},
      {"empty list, philly", "[]"},
  };
  for (const auto& [name, text] : traces) {
    SCOPED_TRACE(name);
    const TempFile file("t.csv", text);
    ExpectError(ExitCode::kBadData, {"at least 1 usable job", "0 of 0 records", "t.csv:1"},
                [&] { ReadTrace(file.path()); });
  }
}

TEST(ReadTrace, ATraceOfDroppedRowsTellsWhy) {
  const TempFile file(
      "t.csv",
      "job_index,submit_time,submit_offset_s,duration_s,num_gpus,gpus_per_server,passed,vc\n"
      "1,2017-10-30 00:00:00,0,0,1,1,0,\n");
  ExpectError(ExitCode::kBadData, {"0 of 1 records", "1 dropped: run time is 0 s", "t.csv:2"},
              [&] { ReadTrace(file.path()); });
}

}  // namespace
}  // namespace allot
