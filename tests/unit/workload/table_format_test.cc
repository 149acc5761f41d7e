// Exports as people have them: written for these tests, in tests/data/tables.

#include <algorithm>
#include <set>

#include "table/column_guess.h"
#include "trace_testing.h"
#include "workload/formats/suggested_columns.h"

namespace allot {
namespace {

const std::string kTables = ALLOT_SOURCE_DIR "/tests/data/tables/";

std::string Guessed(const std::string& file) {
  return GuessColumns(TableFile(TraceText(kTables + file), file)).map.ToString();
}

// As a user reads it who takes the suggestion.
Workload ReadAsSuggested(const std::string& file, ReadReport* report) {
  return ReadTrace(kTables + file, "auto", {.columns = Guessed(file)}, report);
}

double GpuHours(const Workload& workload) { return workload.GpuSeconds() / 3600; }

TEST(Table, ExcelInUtf16WithSemicolonsAndDecimalComma) {
  EXPECT_EQ(Guessed("excel_utf16.csv"),
            "submit=Eingereicht,gpus=GPUs,duration=Laufzeit (h),id=Auftrag,user=Benutzer,"
            "tenant=Warteschlange");
  ReadReport report;
  const Workload workload = ReadAsSuggested("excel_utf16.csv", &report);
  EXPECT_EQ(workload.jobs.size(), 24u);
  EXPECT_EQ(report.encoding, "UTF-16");
  EXPECT_EQ(workload.origin.substr(0, 11), "2026-11-23 ");
  EXPECT_GE(workload.users.Find("müller"), 0);
}

TEST(Table, ExcelInLatin1) {
  ReadReport report;
  const Workload workload = ReadAsSuggested("excel_latin1.csv", &report);
  EXPECT_EQ(workload.jobs.size(), 24u);
  EXPECT_EQ(report.encoding, "Latin-1");
  EXPECT_EQ(workload.tenants.names().front().substr(0, 7), "Größe") << "5 letters, 7 bytes";
  EXPECT_EQ(Counts(report.adjusted).find("not known: not reported") == std::string::npos, false);
}

TEST(Table, PandasWithIndexZonesFloatsAndNaN) {
  ReadReport report;
  const Workload workload = ReadAsSuggested("pandas.csv", &report);
  EXPECT_EQ(workload.jobs.size(), 22u);
  EXPECT_EQ(Drops(report), "1 never started; 1 no GPU requested");
  EXPECT_EQ(workload.jobs.front().id, "train_0");
  EXPECT_EQ(workload.jobs.front().gpus, 2);
  EXPECT_GT(workload.jobs.front().recorded_wait, 0);
  EXPECT_EQ(workload.groups.size(), 2u) << "names that no catalogue knows";
  EXPECT_EQ(report.ignored_columns, (std::vector<std::string>{"#1", "exit_code"}));
}

TEST(Table, DatabaseWithTabsAndMilliseconds) {
  ReadReport report;
  const Workload workload = ReadAsSuggested("database.tsv", &report);
  EXPECT_EQ(workload.jobs.size(), 22u);
  EXPECT_EQ(Drops(report), "1 never started; 1 had not ended when the trace did");
  EXPECT_EQ(workload.origin.substr(0, 11), "2026-11-23 ");
}

TEST(Table, ClocksAndMixedLineEnds) {
  ReadReport report;
  const Workload workload = ReadAsSuggested("clocks.csv", &report);
  ASSERT_EQ(workload.jobs.size(), 24u);
  EXPECT_EQ(workload.jobs[0].user_estimate, 2 * 86400);
  EXPECT_EQ(workload.jobs[2].user_estimate, 0) << "UNLIMITED is no estimate";
}

TEST(Table, ZerosAreDroppedAndCounted) {
  ReadReport report;
  const Workload workload = ReadAsSuggested("zeros.csv", &report);
  EXPECT_EQ(Drops(report), "4 no GPU requested; 2 run time is 0 s; 1 an empty row");
  EXPECT_EQ(workload.jobs.size() + 7, 25u);
  EXPECT_TRUE(workload.origin.empty()) << "plain seconds have no date";
}

TEST(Table, AllOfThemAreTheSameJobs) {
  // One list of jobs was written in all these ways; clocks.csv has one that is 5 times as long.
  ReadReport report;
  const double hours = GpuHours(ReadAsSuggested("excel_latin1.csv", &report));
  EXPECT_NEAR(GpuHours(ReadAsSuggested("excel_utf16.csv", &report)), hours, 0.001 * hours);
  EXPECT_GT(GpuHours(ReadAsSuggested("clocks.csv", &report)), hours);
  EXPECT_LT(GpuHours(ReadAsSuggested("database.tsv", &report)), hours);
}

Workload Read(const std::string& columns, const std::string& text, ReadReport* report = nullptr) {
  const TempFile file("t.csv", text);
  return ReadTrace(file.path(), "auto", {.columns = columns}, report);
}

constexpr const char* kPlain = "submit=s,gpus=g,duration=d";

TEST(Table, ReadsUnitsAsTheyAreNamedOrSaid) {
  EXPECT_EQ(Read("submit=s,gpus=g,duration=d_min", "s,g,d_min\n0,1,2\n").jobs[0].duration, 120);
  EXPECT_EQ(Read("submit=s,gpus=g,duration=d,lengths=h", "s,g,d\n0,1,2\n").jobs[0].duration, 7200);
  EXPECT_EQ(Read("submit=s,gpus=g,duration=d,times=ms", "s,g,d\n5000,1,2\n").jobs[0].submit, 5);
}

TEST(Table, AUnitThatNobodyKnowsIsAskedFor) {
  ExpectError(ExitCode::kBadData, {"the unit of 'd (Std)'", "lengths=h", "'Std'", "t.csv:2"},
              [] { Read("submit=s,gpus=g,duration=d (Std)", "s,g,d (Std)\n0,1,2\n"); });
  EXPECT_EQ(
      Read("submit=s,gpus=g,duration=d (Std),lengths=h", "s,g,d (Std)\n0,1,2\n").jobs[0].duration,
      7200);
  EXPECT_EQ(Read("submit=s,gpus=g,duration=d (HH:MM:SS)", "s,g,d (HH:MM:SS)\n0,1,0:00:07\n")
                .jobs[0]
                .duration,
            7);
}

TEST(Table, GpusAreWholeFloatsOrParts) {
  ReadReport report;
  const Workload workload = Read(kPlain, "s,g,d\n0,4.0,5\n1,0.5,5\n", &report);
  EXPECT_EQ(workload.jobs[0].gpus, 4);
  EXPECT_EQ(workload.jobs[1].gpus, 1);
  EXPECT_EQ(Adjustments(report), "1 a part of a GPU counted as a whole one");
}

TEST(Table, BadRowsNameLineAndRule) {
  const std::vector<BadInput> inputs = {
      {"gpus", "s,g,d\n0,four,5\n", {"'g' must be a number", "'four'", "t.csv:2"}},
      {"negative gpus", "s,g,d\n0,1,5\n0,-2,5\n", {"gpus must be from 0", "-2", "t.csv:3"}},
      {"run time",
       "s,g,d\n0,1,soon\n",
       {"'d' must be a run time", "HH:MM:SS", "'soon'", "t.csv:2"}},
      {"negative run time", "s,g,d\n0,1,-5\n", {"duration must be > 0", "-5", "t.csv:2"}},
      {"day or month", "s,g,d\n03/04/2026,1,5\n05/04/2026,1,5\n", {"times=dmy", "t.csv:2"}},
      {"mixed",
       "s,g,d\n2026-11-23,1,5\n2026-11-24,1,5\n17,1,5\n",
       {"'s' must be a date", "t.csv:4"}},
      {"fields", "s,g,d\n0,1\n", {"must have 3 fields", "t.csv:2"}}};
  for (const BadInput& input : inputs) {
    SCOPED_TRACE(input.name);
    ExpectError(ExitCode::kBadData, input.parts, [&] { Read(kPlain, input.text); });
  }
  ExpectError(ExitCode::kBadData, {"must not end before it starts", "t.csv:2"},
              [&] { Read("submit=s,gpus=g,start=a,end=b", "s,g,a,b\n0,1,9,5\n"); });
  ExpectError(ExitCode::kBadData, {"unique", "'a' on lines 2 and 3"},
              [&] { Read("submit=s,gpus=g,duration=d,id=i", "i,s,g,d\na,0,1,5\na,0,1,5\n"); });
}

TEST(Table, MonthsHaveNoLength) {
  ExpectError(ExitCode::kBadData, {"'d' must be a run time", "months", "'P1M'", "t.csv:2"},
              [] { Read(kPlain, "s,g,d\n0,1,P1M\n"); });
}

TEST(Table, DatesThatAreNotUnderstoodNameTheForms) {
  ExpectError(ExitCode::kBadData,
              {"'s' must be a date or time", "2026-11-23 14:05:06", "23.11.2026", "'23 Nov 2026'",
               "t.csv:2"},
              [] { Read(kPlain, "s,g,d\n23 Nov 2026,1,5\n24 Nov 2026,1,5\n"); });
}

TEST(Table, DigitsOfDatesAndDaysOfExcel) {
  EXPECT_EQ(Read(kPlain, "s,g,d\n20261101,1,5\n20261102,1,5\n").origin, "2026-11-01 00:00:00");
  const std::string days = "s,g,d\n46327.5,1,5\n46328.25,1,5\n";
  ExpectError(ExitCode::kBadData, {"'s'", "Excel", "times=excel", "times=s", "46327.5", "t.csv:1"},
              [&] { Read(kPlain, days); });
  const Workload workload = Read(std::string(kPlain) + ",times=excel", days);
  EXPECT_EQ(workload.origin, "2026-11-01 12:00:00");
  EXPECT_EQ(workload.jobs[1].submit, 18 * 3600);
  EXPECT_EQ(Read(std::string(kPlain) + ",times=s", days).jobs[0].submit, 46327.5);
}

TEST(Table, OnlySubmissionsMayBeDaysOfExcel) {
  const Workload workload =
      Read("submit=s,gpus=g,duration=d,deadline=t", "s,g,d,t\n0,1,5,40000\n30,1,5,40010\n");
  EXPECT_EQ(workload.jobs[1].deadline, 40010) << "as seconds, like the submissions";
}

TEST(Table, ThousandsMayBeMarked) {
  EXPECT_EQ(Read(kPlain, "s,g,d\n0,1,\"1,234\"\n").jobs[0].duration, 1234);
  EXPECT_EQ(Read(kPlain, "s;g;d\n0;1;1,5\n").jobs[0].duration, 1.5);
  ExpectError(ExitCode::kBadData, {"'d'", "may be 1234 or 1.234", "'1,234'", "t.csv:2"},
              [] { Read(kPlain, "s\tg\td\n0\t1\t1,234\n"); });
}

TEST(Table, ATableNeedsRows) {
  const TempFile file("t.csv", "s,g,d\n");
  for (const std::string columns : {kPlain, ""}) {
    ExpectError(ExitCode::kBadData, {"rows below", "t.csv:1"},
                [&] { ReadTrace(file.path(), "auto", {.columns = columns}); });
  }
  const TempFile known("k.csv", "job_id,submit_s,gpus,duration_s\n");
  ExpectError(ExitCode::kBadData, {"no rows", "k.csv:1"}, [&] { ReadTrace(known.path()); });
}

TEST(Table, AColumnThatIsNotThereHasASuggestion) {
  ExpectError(ExitCode::kUsage, {"no column 'S'", "did you mean 's'", "t.csv:1"},
              [&] { Read("submit=S,gpus=g,duration=d", "s,g,d\n0,1,5\n"); });
  ExpectError(ExitCode::kUsage, {"duration=COLUMN", "s, g, d", "t.csv:1"},
              [&] { Read("submit=s,gpus=g", "s,g,d\n0,1,5\n"); });
}

TEST(Table, ColumnsAreForTablesOnly) {
  const TempFile file("t.csv", "s,g,d\n0,1,5\n");
  ExpectError(ExitCode::kUsage, {"--columns", "--format tiresias"},
              [&] { ReadTrace(file.path(), "tiresias", {.columns = kPlain}); });
}

TEST(Table, WithoutColumnsItSaysWhoSuggestsThem) {
  const TempFile file("t.csv", "who,when,what\nme,2026-11-23,2\n");
  ExpectError(ExitCode::kBadData,
              {"allot trace inspect", "--columns", "who, when, what", "t.csv:1"},
              [&] { ReadTrace(file.path()); });
}

TEST(Table, AWorkbookIsToBeSavedAsText) {
  const TempFile file("t.xlsx", "PK\x03\x04rest");
  ExpectError(ExitCode::kBadData, {"save the workbook as CSV"}, [&] { ReadTrace(file.path()); });
}

TEST(Guess, SaysWhatIsLackingAndHowToNameIt) {
  const TempFile file("t.csv", "who,when,note\nme,2026-11-23,x\n");
  const auto guess = SuggestColumns(file.path());
  ASSERT_TRUE(guess.has_value());
  EXPECT_FALSE(guess->complete);
  for (const char* part : {"submit=when", "gpus=COLUMN", "duration=COLUMN", "who, note"}) {
    EXPECT_NE(guess->text.find(part), std::string::npos) << part << "\n" << guess->text;
  }
}

TEST(Guess, AFirstLineWithADateIsNoHeader) {
  const TempFile file("t.csv", "7|2026-10-05T00:55:07|a b\n8|2026-10-05T00:56:07|c\n");
  const auto guess = SuggestColumns(file.path());
  ASSERT_TRUE(guess.has_value());
  for (const char* part : {"values ('2026-10-05T00:55:07')", "without -n"}) {
    EXPECT_NE(guess->text.find(part), std::string::npos) << part << "\n" << guess->text;
  }
}

TEST(Guess, ByValuesWhereNamesSayNothing) {
  const TempFile file("t.csv",
                      "a,b,c\n2026-11-23 10:00,1,00:10:00\n2026-11-23 10:05,8,01:00:00\n"
                      "2026-11-23 10:06,4,00:30:00\n");
  const auto guess = SuggestColumns(file.path());
  ASSERT_TRUE(guess.has_value());
  EXPECT_EQ(guess->json["columns"], "submit=a,gpus=b,duration=c");
  EXPECT_TRUE(guess->complete);
}

std::string GuessOf(const std::string& text) {
  const TempFile file("t.csv", text);
  return GuessColumns(TableFile(TraceText(file.path()), "t.csv")).map.ToString();
}

TEST(Guess, UseAndNamesOfGpusAreNoCounts) {
  const std::string rest = ",submit,duration\n";
  for (const char* name : {"gpu_util", "gpu_id", "gpuId", "GPU Utilization", "gpuutil",
                           "gpu_mem_gb", "gpus_per_node", "gpu_type"}) {
    EXPECT_EQ(GuessOf(name + rest + "1,0,60\n2,5,60\n4,9,60\n"), "submit=submit,duration=duration")
        << name;
  }
  EXPECT_EQ(GuessOf("cpus" + rest + "1,0,60\n2,5,60\n4,9,60\n"),
            "submit=submit,duration=duration,cpus=cpus");
  EXPECT_EQ(GuessOf("gpu_id,gpu_util,nvidia.com/gpu,submit,duration\n1,2,4,0,60\n2,1,8,5,60\n"),
            "submit=submit,gpus=nvidia.com/gpu,duration=duration");
}

TEST(Guess, NamesOfGpuTypesAreTypes) {
  const std::string rows = ",gpus,submit,duration\nA100,1,0,60\nTesla V100,2,5,60\n";
  for (const char* name : {"gpu_type", "GPU Type", "gpuModel", "gpu_types"}) {
    EXPECT_EQ(GuessOf(name + rows),
              fmt::format("submit=submit,gpus=gpus,duration=duration,gpu_types={}", name));
  }
}

TEST(Guess, TheBetterNameWinsWhereverItStands) {
  EXPECT_EQ(GuessOf("model,application,gpus,submit,duration\nr,x,1,0,60\n"),
            "submit=submit,gpus=gpus,duration=duration,group=application");
  EXPECT_EQ(GuessOf("job_name,job_id,user_group,username,gpus,submit,duration\n"
                    "t,1,g,u,1,0,60\nt,2,g,u,1,5,60\n"),
            "submit=submit,gpus=gpus,duration=duration,id=job_id,user=username,tenant=user_group,"
            "group=job_name");
  EXPECT_EQ(GuessOf("job_name,gpus,submit,duration\nt,1,0,60\nt,1,5,60\n"),
            "submit=submit,gpus=gpus,duration=duration,group=job_name")
      << "a name that stands there twice is no id";
}

TEST(Guess, SaysWhenNumbersMayBeDaysOfExcel) {
  EXPECT_EQ(GuessOf("start,submit,gpus,duration\n46327.51,46327.5,1,60\n"),
            "submit=submit,gpus=gpus,duration=duration,start=start,times=excel");
}

TEST(Guess, IsOnlyForTablesInNoFormat) {
  EXPECT_FALSE(SuggestColumns(ALLOT_SOURCE_DIR "/traces/samples/tiresias.csv").has_value());
  EXPECT_FALSE(SuggestColumns("embedded").has_value());
}

// "Never", as a year far away, does not change how the rest of its column is read.
TEST(Table, ATimeThatNeverComesIsAnErrorOnItsLine) {
  const auto read = [](const std::string& text) {
    const TempFile file("t.csv", text);
    return ReadTrace(file.path(), "auto", {.columns = "submit=s,start=b,end=e,gpus=g"});
  };
  ExpectError(ExitCode::kBadData,
              {"'end' must be a time from 1989 to 2128", "253402300799000", "the year 9999",
               "t_epochms_bad.csv:3"},
              [] {
                ReadTrace(std::string(ALLOT_TEST_DATA) + "/cases/t_epochms_bad.csv", "auto",
                          {.columns = "submit=submit,start=start,end=end,gpus=gpus"});
              });
  const std::string good = "s,b,e,g\n1790812800,1790812860,1790816400,1\n";
  EXPECT_EQ(read(good).jobs[0].duration, 3540);
  for (const char* never : {"9223372036", "253402214400", "-1", "4102444800000"}) {
    SCOPED_TRACE(never);
    ExpectError(ExitCode::kBadData, {"'e' must be a time from 1989 to 2128", never, "t.csv:3"},
                [&] { read(good + "1790812800,1790812860," + never + ",1\n"); });
  }
  // All of them are "never".
  ExpectError(ExitCode::kBadData, {"'e' must be", "the year 9999", "t.csv:2"},
              [&] { read("s,b,e,g\n1790812800,1790812860,253402300799,1\n"); });
  ExpectError(ExitCode::kBadData,
              {"'e' must be a time from 1989 to 2128", "the year 9999", "t.csv:3"}, [&] {
                read(
                    "s,b,e,g\n2026-10-01 00:00:00,2026-10-01 00:00:00,2026-10-01 01:00:00,1\n"
                    "2026-10-01 00:00:00,2026-10-01 00:00:00,9999-12-31 00:00:00,1\n");
              });
}

TEST(Table, AStartBeforeTheSubmissionIsCounted) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(ALLOT_TEST_DATA) + "/cases/t_negwait.csv", "auto",
                {.columns = "submit=submit,start=start,end=end,gpus=gpus"}, &report);
  EXPECT_EQ(workload.jobs.at(0).recorded_wait, 0);
  EXPECT_EQ(Adjustments(report), "1 started before it was submitted: its wait counts as 0");
}

TEST(Table, GpusAreNodesTimesGpusOnEach) {
  const TempFile file("t.csv",
                      "Eingereicht,nodes,gpus_per_node,run_min\n"
                      "2026-10-01 00:00:00,2,4,10\n2026-10-01 00:00:00,3,,10\n");
  const auto guess = SuggestColumns(file.path());
  ASSERT_TRUE(guess && guess->complete) << guess->text;
  EXPECT_EQ(guess->json["columns"], "submit=Eingereicht,gpus=nodes*gpus_per_node,duration=run_min");
  ReadReport report;
  const Workload workload = ReadTrace(
      file.path(), "auto", {.columns = guess->json["columns"].get<std::string>()}, &report);
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].gpus, 8);
  EXPECT_EQ(workload.jobs[0].duration, 600);
  EXPECT_TRUE(report.ignored_columns.empty());
  EXPECT_EQ(Drops(report), "1 no GPU requested");
}

TEST(Table, GermanNamesOfStartAndEnd) {
  const TempFile file("t.csv",
                      "Eingereicht;Beginn;Ende;GPUs\n"
                      "01.10.2026 10:00;01.10.2026 10:05;01.10.2026 11:05;2\n");
  const auto guess = SuggestColumns(file.path());
  ASSERT_TRUE(guess);
  EXPECT_EQ(guess->json["columns"], "submit=Eingereicht,gpus=GPUs,start=Beginn,end=Ende");
}

}  // namespace
}  // namespace allot
