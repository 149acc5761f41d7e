#include "core/file.h"
#include "trace_testing.h"

namespace allot {
namespace {

std::string Attempt(const std::string& start, const std::string& end,
                    const std::string& gpus = "\"g0\"") {
  return R"({"start_time": )" + start + R"(, "end_time": )" + end +
         R"(, "detail": [{"ip": "m1", "gpus": [)" + gpus + "]}]}";
}

std::string Record(const std::string& id, const std::string& attempts,
                   const std::string& submit = R"("2017-10-07 01:00:00")") {
  return R"({"status": "Pass", "vc": "v", "jobid": ")" + id + R"(", "attempts": [)" + attempts +
         R"(], "submitted_time": )" + submit + R"(, "user": "u"})";
}

const std::string kRun = Attempt(R"("2017-10-07 01:10:00")", R"("2017-10-07 01:20:00")");

std::string List(const std::vector<std::string>& records) {
  std::string text = "[\n";
  for (std::size_t i = 0; i < records.size(); ++i)
    text += records[i] + (i + 1 < records.size() ? ",\n" : "\n");
  return text + "]\n";
}

TEST(PhillyJson, ReadsTheOwnersExample) {
  const Workload workload = ReadText(
      "philly", ReadTextFile(ALLOT_SOURCE_DIR "/traces/samples/philly_cluster_job_log.json"));
  EXPECT_EQ(workload.origin, "2017-10-07 01:11:39");
  ASSERT_EQ(workload.jobs.size(), 1u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(job.id, "application_1506638472019_14199");
  EXPECT_EQ(job.submit, 0);
  EXPECT_EQ(job.gpus, 8);
  // 2017-10-07 01:12:09, start of attempt 1, to 2017-10-09 06:53:12, end of attempt 2
  EXPECT_EQ(job.duration, 2 * 86400 + 5 * 3600 + 41 * 60 + 3);
  EXPECT_EQ(job.outcome, Outcome::kPassed);
  EXPECT_EQ(workload.tenants[job.tenant], "ee9e8c");
  EXPECT_EQ(workload.users[job.user], "ce2f4c");
}

TEST(PhillyJson, GpusAreThoseOfTheFirstStartedAttempt) {
  const Workload workload = ReadText(
      "philly",
      List({Record("a", Attempt("null", "null", "") + "," +
                            Attempt(R"("2017-10-07 01:10:00")", R"("None")", R"("g0","g1")") + "," +
                            kRun)}));
  EXPECT_EQ(workload.jobs.at(0).gpus, 2);
  EXPECT_EQ(workload.jobs.at(0).duration, 600);
}

TEST(PhillyJson, GpusOfAllServersCount) {
  const std::string two =
      R"({"start_time": "2017-10-07 01:10:00", "end_time": "2017-10-07 01:20:00",
      "detail": [{"ip": "m1", "gpus": ["g0", "g1"]}, {"ip": "m2", "gpus": ["g0"]}]})";
  EXPECT_EQ(ReadText("philly", List({Record("a", two)})).jobs.at(0).gpus, 3);
}

TEST(PhillyJson, AByteOrderMarkIsNoPartOfTheText) {
  const std::string plain = List({Record("a", kRun)});
  const std::string marked = "\xEF\xBB\xBF" + plain;
  EXPECT_EQ(ReadText("philly", marked).jobs.at(0).id, "a");
  const auto detect = Registry<TraceFormat>::Global().Get("trace format", "philly").detect;
  EXPECT_EQ(detect(marked), detect(plain));
  // One only, and nowhere else.
  ExpectBadData("philly", {{"two", "\xEF\xBB\xBF" + marked, {"must begin with '['", "at byte 3"}}});
}

TEST(PhillyJson, WhatCannotBeUsedIsDroppedByReason) {
  ReadReport report;
  const Workload workload = ReadText(
      "philly",
      List({Record("a", kRun, "\"None\""), Record("b", kRun, "null"), Record("c", ""),
            Record("d", Attempt("\"None\"", "\"None\"", "")),
            Record("e", Attempt(R"("2017-10-07 01:10:00")", "null")),
            Record("f", Attempt(R"("2017-10-07 01:10:00")", R"("2017-10-07 01:20:00")", "")),
            Record("g", Attempt(R"("2017-10-07 01:10:00")", R"("2017-10-07 01:10:00")")),
            Record("h", kRun)}),
      false, &report);
  EXPECT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(report.rows, 8);
  std::string reasons;
  for (const DropCount& drop : report.drops)
    reasons += fmt::format("{} {} {}\n", drop.rows, drop.reason, drop.example);
  EXPECT_EQ(reasons,
            "2 no submit time t.csv:2\n"
            "1 no attempt to run it t.csv:4\n"
            "1 no attempt ever started t.csv:5\n"
            "1 last attempt has no end (still running) t.csv:6\n"
            "1 first attempt held no GPU t.csv:7\n"
            "1 run time is 0 s t.csv:8\n");
}

TEST(PhillyJson, BadInputNamesRuleValueAndPlace) {
  const std::string good = Record("a", kRun);
  const std::string infinite = R"({"status": 1e999})";
  ExpectBadData(
      "philly",
      {
          {"missing member",
           List({good, R"({"status": "Pass"})"}),
           {"'jobid' is required", "an object with 'status'", "t.csv:3"}},
          {"id is no string",
           List({R"({"jobid": 7})"}),
           {"'jobid' must be a string", "'7'", "t.csv:2"}},
          {"status",
           List({R"({"jobid": "x", "status": "Lost"})"}),
           {"'status' must be Pass", "Lost", "t.csv:2"}},
          {"time",
           List({Record("x", kRun, "\"2017-13-01 00:00:00\"")}),
           {"'submitted_time' must be like", "2017-13-01", "t.csv:2"}},
          {"number as time",
           List({Record("x", kRun, "5")}),
           {"'submitted_time' must be like", "'5'", "t.csv:2"}},
          {"NaN", List({Record("x", kRun, "NaN")}), {"well-formed JSON", "NaN", "t.csv:2"}},
          {"infinite", List({good, infinite}), {"well-formed JSON", "1e999", "t.csv:3"}},
          {"end before start",
           List({Record("x", Attempt(R"("2017-10-07 01:10:00")", R"("2017-10-07 01:09:00")"))}),
           {"duration must be > 0", "got -60", "t.csv:2"}},
          {"attempts is no list",
           List({R"({"jobid": "x", "status": "Pass", "submitted_time": null, "attempts": 3})"}),
           {"'attempts' must be a list", "'3'", "t.csv:2"}},
          {"record is no object", List({"17"}), {"must be a JSON object", "'17'", "t.csv:2"}},
          {"duplicate id", List({good, good}), {"unique", "'a' on lines 2 and 3", "t.csv:3"}},
          {"malformed record",
           "[\n{\"a\": 1,\n \"b\" 2}\n]",
           {"well-formed JSON", "2}", "at byte 16", "t.csv:3"}},
          {"trailing comma", "[\n" + good + ",\n]", {"well-formed JSON", "']", "t.csv:3"}},
          {"cut short", "[\n" + good, {"closed by ']'", "end of the file", "t.csv:2"}},
          {"cut inside a record",
           List({good}).substr(0, 60),
           {"closed by ']'", "end of the file at byte 60", "t.csv:2"}},
          {"junk after the list", List({good}) + "{}", {"nothing may follow", "'{}'", "t.csv:4"}},
          {"no list", "{\"a\": 1}", {"begin with '['", "'{", "at byte 0", "t.csv:1"}},
          {"garbage in a string",
           "[{\"jobid\": \"\xff\"}]",
           {"well-formed JSON", "\\xff", "t.csv:1"}},
          {"empty file", "", {"begin with '['", "end of the file", "t.csv:1"}},
      });
}

TEST(PhillyJson, LenientDropsMalformedRecords) {
  ReadReport report;
  const Workload workload = ReadText(
      "philly", List({"{oops}", Record("a", kRun), "5", Record("a", kRun)}), true, &report);
  EXPECT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(report.dropped(), 3);
  EXPECT_EQ(report.drops.at(0).reason, "malformed: a record must be well-formed JSON");
}

TEST(PhillyJson, DeepNestingIsRefused) {
  const std::string deep(200'000, '[');
  ExpectError(ExitCode::kBadData, {"deeper than 100", "at byte 101", "t.csv:1"},
              [&] { ReadText("philly", "[" + deep + std::string(deep.size(), ']') + "]"); });
}

}  // namespace
}  // namespace allot
