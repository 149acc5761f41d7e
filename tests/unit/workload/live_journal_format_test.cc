#include "trace_testing.h"

namespace allot {
namespace {

std::string Asked(const std::string& id, const std::string& submit) {
  return R"({"at":1,"what":"job","job":")" + id + R"(","user":"ann","name":"x","submit":)" +
         submit +
         R"(,"submit_unix":5,"deadline":null,"gpus":2,"min_gpus":1,"max_gpus":4,"resize":"hot",)"
         R"("model":"resnet50:64","profile":"resnet50","total_work":null,"time_limit":3600,)"
         R"("priority":1,"comment":""})"
         "\n";
}
std::string Given(const std::string& id) {
  return R"({"at":2,"what":"give","job":")" + id + R"(","shares":[["n1",3]],"why":"x"})" + "\n";
}
std::string Over(const std::string& id, const std::string& state, const std::string& rest) {
  return R"({"at":9,"what":"over","job":")" + id + R"(","state":")" + state +
         R"(","gpu_seconds":14)" + rest + "}\n";
}
const std::string kServe =
    R"({"at":0,"what":"serve","origin":1500000000.5,"pid":1,"runtime":"local","policy":"drf"})"
    "\n";

TEST(LiveJournal, ReadsJobsThatEnded) {
  const Workload workload = ReadText(
      "live-journal", kServe + Asked("a", "3.5") + Given("a") + Asked("b", "4") + Given("b") +
                          Over("b", "cancelled", "") + Over("a", "finished", R"(,"run_time":6)"));
  ASSERT_EQ(workload.jobs.size(), 2u);
  const Job& job = workload.jobs[0];
  EXPECT_EQ(workload.origin, "2017-07-14 02:40:00");
  EXPECT_EQ(job.id, "a");
  EXPECT_EQ(job.submit, 3.5);
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.min_gpus, 1);
  EXPECT_EQ(job.max_gpus, 4);
  EXPECT_EQ(job.duration, 6);
  EXPECT_EQ(job.user_estimate, 3600);
  EXPECT_EQ(job.outcome, Outcome::kPassed);
  EXPECT_EQ(workload.models[job.model], "resnet50");
  EXPECT_EQ(workload.groups[job.group], "resnet50:64");
  EXPECT_EQ(workload.users[job.user], "ann");
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kKilled);
  EXPECT_EQ(workload.jobs[1].duration, 7) << "GPU-seconds by GPUs";
}

TEST(LiveJournal, DropsWhatDidNotRunToAnEndAndALineThatWasCutOff) {
  ReadReport report;
  ReadText("live-journal",
           kServe + Asked("a", "1") + Asked("b", "1") + Given("b") + Asked("c", "1") + Given("c") +
               Over("c", "finished", R"(,"run_time":0)") + Asked("d", "1") + Given("d") +
               Over("d", "finished", "") + R"({"at":12,"what":"ov)",
           false, &report);
  EXPECT_EQ(Drops(report),
            "1 never started; 1 had not ended when the trace did; 1 run time is 0 s");
}

// A journal that was made anew begins with the jobs that its daemon still knew.
class RenewedLiveJournal : public testing::Test {
 protected:
  RenewedLiveJournal() {
    const std::string renewed = R"({"at":9,"what":"renewed","archived":1})"
                                "\n" +
                                kServe;
    const std::string kept = R"({"at":9,"what":"kept","job":"b","changes":1})"
                             "\n";
    std::ofstream(folder_ / "journal.jsonl")
        << renewed << Asked("b", "4") << kept << Over("b", "finished", R"(,"run_time":8)")
        << Asked("a", "20") << Given("a") << Over("a", "finished", R"(,"run_time":9)");
  }
  void Archive() {
    std::ofstream(folder_ / "journal.past.jsonl.gz")
        << kServe << Asked("a", "3") << Given("a") << Asked("b", "4") << Given("b")
        << Over("a", "finished", R"(,"run_time":6)");
  }
  Workload Read(ReadReport* report) const {
    return ReadTrace((folder_ / "journal.jsonl").string(), "auto", {}, report);
  }
  testing_support::TempFolder folder_;
};

TEST_F(RenewedLiveJournal, IsReadWithItsArchive) {
  Archive();
  ReadReport report;
  const Workload workload = Read(&report);
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.jobs[0].id, "a");
  EXPECT_EQ(workload.jobs[0].duration, 6);
  EXPECT_EQ(workload.jobs[1].id, "b");
  EXPECT_EQ(workload.jobs[1].duration, 8);
  EXPECT_EQ(workload.jobs[2].id, "a#2") << "a name may be used again";
  EXPECT_EQ(workload.jobs[2].duration, 9);
  EXPECT_EQ(report.rows, 3) << "b is one job";
  EXPECT_TRUE(report.notes.empty());
}

TEST_F(RenewedLiveJournal, WithoutItsArchiveSaysWhatIsMissing) {
  ReadReport report;
  const Workload workload = Read(&report);
  EXPECT_EQ(workload.jobs.size(), 2u);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.notes[0], "no journal.past.jsonl.gz: its jobs are not read");
}

TEST(LiveJournal, BadInputNamesRuleValueAndPlace) {
  ExpectBadData("live-journal",
                {{"no record", kServe + "{\"job\"\n", {"'at' and 'what'", "t.csv:2"}},
                 {"unknown job", kServe + Given("z"), {"names a job before", "'z'", "t.csv:2"}},
                 {"no GPUs",
                  kServe + R"({"at":1,"what":"job","job":"a","submit":1,"gpus":"x"})" + "\n",
                  {"'gpus' must be a whole number", "t.csv:2"}}});
}

}  // namespace
}  // namespace allot
