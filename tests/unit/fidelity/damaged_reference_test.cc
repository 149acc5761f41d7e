// Folders that lost a part, or say what cannot be: refused, and never found equal by what is left.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/core/expect_error.h"
#include "tests/unit/fidelity/altered_reference.h"

namespace allot {
namespace {

const std::string kLas = "results/w2.Las.scattered.admit-1.2";
const std::string kLasRun = "w2.Las.scattered.admit-1.2";

// Line 18 is job 16.
auto Times(int line, int times) {
  return [=](int number, std::string_view) { return number == line ? times : 1; };
}

TEST(DamagedBlox, ALostRowIsMissed) {
  AlteredReference folder("blox", "lost-row");
  folder.KeepLines(kLas + ".jobs.csv", Times(18, 0));
  ExpectError(
      ExitCode::kBadData,
      {kLas + ".jobs.csv: ", kLasRun + " must", "job '16' has none", "299 rows for 300 jobs"},
      [&] { folder.RunAll(); });
}

TEST(DamagedBlox, ADoubledRowIsNamed) {
  AlteredReference folder("blox", "doubled-row");
  folder.KeepLines(kLas + ".jobs.csv", Times(18, 2));
  ExpectError(ExitCode::kBadData,
              {kLas + ".jobs.csv:19: ", "job '16' has one in line 18", "301 rows for 300 jobs"},
              [&] { folder.RunAll(); });
}

// The number of rows is right.
TEST(DamagedBlox, ARowInPlaceOfAnotherIsNamed) {
  AlteredReference folder("blox", "other-row");
  folder.Replace(kLas + ".jobs.csv", "\n16,", "\n15,");
  ExpectError(ExitCode::kBadData, {".jobs.csv:18: ", "job '15'", "300 rows for 300 jobs"},
              [&] { folder.RunAll(); });
}

TEST(DamagedBlox, AHeaderAloneIsNoResult) {
  AlteredReference folder("blox", "header");
  folder.KeepLines(kLas + ".jobs.csv", [](int number, std::string_view) { return number == 1; });
  ExpectError(ExitCode::kBadData, {kLas + ".jobs.csv", "job '0' has none", "0 rows for 300 jobs"},
              [&] { folder.RunAll(); });
}

TEST(DamagedBlox, ALostJobOfTheWorkloadIsMissed) {
  AlteredReference folder("blox", "lost-job");
  folder.KeepLines("w2-onegpu-300x32.csv", Times(18, 0));
  ExpectError(ExitCode::kBadData, {"'tracked' must be 299", "w2-onegpu-300x32", "got 300"},
              [&] { folder.RunAll(); });
}

// The shipped run of a peer's several GPUs is not rebuilt; its rows are called all the same.
TEST(DamagedBlox, RunsThatAreNotRebuiltAreCheckedToo) {
  AlteredReference folder("blox", "not-rebuilt");
  folder.KeepLines("results/w1.Fifo.scattered.accept-all.jobs.csv", Times(5, 0));
  ExpectError(ExitCode::kBadData, {"w1.Fifo.scattered.accept-all", "29 rows for 30 jobs"},
              [&] { folder.RunAll(); });
}

TEST(DamagedBlox, LostFilesAreMissed) {
  for (const char* suffix : {".jobs.csv", ".summary.json"}) {
    AlteredReference folder("blox", "lost-file");
    folder.Remove(kLas + suffix);
    ExpectError(ExitCode::kBadData, {"'" + kLasRun + "' needs the file", kLas + suffix},
                [&] { folder.RunAll(); });
  }
  AlteredReference whole_run("blox", "lost-run");
  whole_run.Remove(kLas + ".jobs.csv");
  whole_run.Remove(kLas + ".summary.json");
  ExpectError(ExitCode::kBadData, {"'" + kLasRun + "' needs the file"},
              [&] { whole_run.RunAll(); });
}

// One value of a file, what it becomes, and what must be said.
struct BadValue {
  std::string file, from, to;
  std::vector<std::string> parts;
};

void ExpectRefused(const std::string& peer, const std::vector<BadValue>& values) {
  for (const BadValue& bad : values) {
    SCOPED_TRACE(bad.to);
    AlteredReference folder(peer, "bad-value");
    folder.Replace(bad.file, bad.from, bad.to);
    std::vector<std::string> parts = bad.parts;
    parts.push_back(bad.file);
    ExpectError(ExitCode::kBadData, parts, [&] { folder.RunAll(); });
  }
}

TEST(DamagedBlox, SummariesThatMakeNoSense) {
  const std::string file = kLas + ".summary.json";
  const std::string nodes = "\"nodes\": 8", gpus = "\"gpus_per_node\": 4",
                    round = "\"round_s\": 300";
  const std::string most_nodes = "'nodes' must be a whole number from 1 to 1000000";
  const std::string most_gpus = "'gpus_per_node' must be a whole number from 1 to 64";
  ExpectRefused(
      "blox",
      {{file, nodes, "\"nodes\": 99999999999", {most_nodes, "got 99999999999"}},
       {file, nodes, "\"nodes\": 18446744073709551615", {most_nodes, "18446744073709551615"}},
       {file, nodes, "\"nodes\": 4294967304", {most_nodes, "4294967304"}},  // 8 in 32 bits
       {file, nodes, "\"nodes\": 0", {most_nodes, "got 0"}},
       {file, nodes, "\"nodes\": -1", {most_nodes, "got -1"}},
       {file, nodes, "\"nodes\": 8.5", {most_nodes, "got 8.5"}},
       {file, nodes, "\"nodes\": true", {most_nodes, "got true"}},
       {file, nodes, "\"nodes\": [[8]]", {most_nodes, "got an array"}},
       {file, nodes, "\"node\": 8", {"'nodes' is required"}},
       {file, gpus, "\"gpus_per_node\": 9999", {most_gpus, "got 9999"}},
       {file, gpus, "\"gpus_per_node\": 0", {most_gpus, "got 0"}},
       {file, round, "\"round_s\": 0", {"'round_s' must be a number from 1", "got 0"}},
       {file, round, "\"round_s\": -300", {"'round_s' must be a number from 1", "got -300"}},
       {file,
        "\"complete\": true",
        "\"complete\": false",
        {"'complete' must be true", "got false"}},
       {file, "\"finished\": 300", "\"finished\": 299", {"'finished' must be 300", "got 299"}},
       {file, "\"policy\": \"Las\"", "\"policy\": \"Fifo\"", {"must be \"Las\"", "got \"Fifo\""}},
       {file, "{", "[{", {"must be JSON"}}});
}

TEST(DamagedDl2, LostAndDoubledRowsAreNamed) {
  const std::string file = "results/small_s1.jobs.csv";
  AlteredReference lost("dl2", "lost-row");
  lost.KeepLines(file,
                 [](int, std::string_view line) { return line.starts_with("FIFO,2,") ? 0 : 1; });
  ExpectError(ExitCode::kBadData, {file, "small_s1.FIFO", "job '2' has none", "9 rows for 10 jobs"},
              [&] { lost.RunAll(); });
  AlteredReference doubled("dl2", "doubled-row");
  doubled.KeepLines(file, Times(3, 2));
  ExpectError(ExitCode::kBadData,
              {file + ":4", "small_s1.FIFO", "job '2' has one in line 3", "11 rows for 10 jobs"},
              [&] { doubled.RunAll(); });
}

TEST(DamagedDl2, APolicyThatTheSummaryNamesIsMissed) {
  AlteredReference folder("dl2", "lost-policy");
  folder.KeepLines("results/small_s1.jobs.csv",
                   [](int, std::string_view line) { return line.starts_with("SRTF,") ? 0 : 1; });
  ExpectError(ExitCode::kBadData, {"small_s1.SRTF", "0 rows for 10 jobs"},
              [&] { folder.RunAll(); });
}

TEST(DamagedDl2, LostFilesAreMissed) {
  for (const char* file : {"results/small_s1.jobs.csv", "workloads/small_s1.jobs.csv",
                           "workloads/small_s1.meta.json"}) {
    AlteredReference folder("dl2", "lost-file");
    folder.Remove(file);
    ExpectError(ExitCode::kBadData, {"'small_s1' needs the file", file}, [&] { folder.RunAll(); });
  }
  AlteredReference results("dl2", "lost-results");
  results.Remove("results/small_s1.jobs.csv");
  results.Remove("results/small_s1.summary.csv");
  ExpectError(ExitCode::kBadData, {"'small_s1' needs the file"}, [&] { results.RunAll(); });
}

TEST(DamagedDl2, AHeaderAloneIsNoResult) {
  AlteredReference folder("dl2", "header");
  folder.Remove("results/small_s1.summary.csv");
  folder.KeepLines("results/small_s1.jobs.csv",
                   [](int number, std::string_view) { return number == 1; });
  ExpectError(ExitCode::kBadData, {"small_s1.jobs.csv", "10 jobs, got none"},
              [&] { folder.RunAll(); });
}

TEST(DamagedDl2, FactsThatMakeNoSense) {
  const std::string meta = "workloads/small_s1.meta.json";
  const std::string servers = "\"num_servers\": 6", cpus = "\"cpu_slots_per_server\": 8";
  const std::string most = "'num_servers' must be a whole number from 1 to 1000000";
  const std::string jobs = "workloads/small_s1.jobs.csv";
  ExpectRefused(
      "dl2",
      {{meta, servers, "\"num_servers\": 999999999999", {most, "got 999999999999"}},
       {meta, servers, "\"num_servers\": 4294967302", {most, "got 4294967302"}},  // 6 in 32 bits
       {meta, servers, "\"num_servers\": 0", {most, "got 0"}},
       {meta, cpus, "\"cpu_slots_per_server\": -8", {"from 1 to 2000, got -8"}},
       {meta, "\"gpu_slots_per_server\": 8", "\"gpu_slots_per_server\": 65", {"1 to 64, got 65"}},
       {meta, "\"slot_seconds\": 300.0", "\"slot_seconds\": 0", {"'slot_seconds'", "got 0"}},
       {meta, "\"num_jobs\": 10", "\"num_jobs\": 11", {"'num_jobs' must be 10", "got 11"}},
       {meta, "\"max_ps_per_job\": 16", "\"max_ps_per_job\": 15", {"16 and 15"}},
       {jobs, ",2,4,2,0", ",2,4,2,-1", {":2", "'ps_gpu'", "'-1'"}},
       {jobs, ",2,4,2,0", ",2,9,2,0", {":2", "'worker_gpu'", "from 0 to 8", "'9'"}},
       {jobs, "seq2seq,0,950,780,", "seq2seq,0,950,0,", {":2", "'epoch_size' must be > 0, got 0"}},
       {"results/small_s1.summary.csv", "SRTF,10,", "SRTF,9,", {":4", "must be 10", "got 9"}},
       {"results/small_s1.jobs.csv", "SRTF,1,", "SRFT,1,", {"must be one of", "'SRFT'"}}});
  // Limits that the speeds do not reach.
  AlteredReference folder("dl2", "limits");
  for (const char* key : {"max_ps_per_job", "max_workers_per_job"}) {
    folder.Replace(meta, fmt::format("\"{}\": 16", key), fmt::format("\"{}\": 17", key));
  }
  ExpectError(ExitCode::kBadData, {meta, "1 more", "got 17", "for 17"}, [&] { folder.RunAll(); });
}

TEST(DamagedDl2, SpeedsThatAreLostDoubledOrNegative) {
  const std::string file = "speed/interpolated.csv";
  AlteredReference lost("dl2", "lost-speed");
  lost.KeepLines(file,
                 [](int, std::string_view line) { return line.starts_with("3,2,5,") ? 0 : 1; });
  ExpectError(ExitCode::kBadData, {file, "1 to 17", "type 3 has none of 2 servers and 5 workers"},
              [&] { lost.RunAll(); });
  AlteredReference doubled("dl2", "doubled-speed");
  doubled.KeepLines(file, Times(2, 2));
  ExpectError(ExitCode::kBadData, {file + ":3", "1 servers and 1 workers", "line 2"},
              [&] { doubled.RunAll(); });
  ExpectRefused("dl2", {{file, "\n2,1,2,", "\n9,1,2,", {"type 2 has none of 1 servers and 2"}},
                        {file, "\n2,1,2,", "\nx,1,2,", {":3", "'type'", "'x'"}},
                        {file, "\n2,1,2,", "\n2,1,2,-", {":3", "'speed' must be >= 0", "got -"}}});
}

TEST(DamagedDl2, JobsOfOneModelMustBeAlike) {
  AlteredReference folder("dl2", "unlike");
  const std::string text = ReadTextFile((Shipped("dl2") / "workloads/small_s1.jobs.csv").string());
  std::string second;  // of the model of the first job
  for (const std::string_view line : Split(text, '\n')) {
    if (line.find(",seq2seq,") != std::string_view::npos && !line.starts_with("1,")) second = line;
  }
  ASSERT_FALSE(second.empty());
  folder.Replace("workloads/small_s1.jobs.csv", second, second.substr(0, second.rfind(',')) + ",1");
  ExpectError(ExitCode::kBadData, {"'seq2seq' is", "a server 1 and 2 here and", "in line 2"},
              [&] { folder.RunAll(); });
}

}  // namespace
}  // namespace allot
