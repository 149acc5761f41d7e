// Workers that have their GPUs and do not join: whoever can do something about it hears of it.

#include "live/daemon/daemon.h"
#include "live/daemon/daemon_status.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

class LateWorkersTest : public LiveClusterFixture {
 protected:
  void Begin(GpuCount gpus, std::set<std::string> slow) {
    runtime_.AddJob("a", gpus, 1, 8);
    runtime_.slow = std::move(slow);
    gpus_ = gpus;
    Serve();
    port_->WaitForChange(0);
    Decide({{"a", gpus}});
  }
  // As Until, also while there is nothing to decide. Six tries are 7,500 looks. What is taken from
  // the job is given to it on another node.
  template <typename Condition>
  void LookUntil(const char* what, const Condition& condition) {
    for (int look = 0; look < 20'000; ++look) {
      if (condition()) return;
      Look();
      if (JobOf("a").over || JobOf("a").given() == gpus_ || condition()) continue;
      port_->WaitForChange(0);
      Decide({{"a", gpus_}});
    }
    FAIL() << "never came: " << what << "\n" << JournalEnd();
  }
  GpuCount gpus_ = 0;
  std::string Told() { return runtime_.explained["a"]; }
  std::string Reason() const { return MakeStatus(*cluster_, {}, {}).jobs[0].reason.value_or(""); }
};

TEST_F(LateWorkersTest, AJobOfWhichNobodyJoinsIsToldAtEachTryUntilOneDoes) {
  Begin(2, {"a.0", "a.1", "a.2", "a.3"});
  Look();
  EXPECT_EQ(Told(), "") << "there is time";
  const std::string missing = "none of its workers has joined within 120 s, ";
  LookUntil("the first try to be over",
            [&] { return Told().starts_with(missing + "1 of 6 tries"); });
  EXPECT_NE(Told().find("allot-elastic run"), std::string::npos) << "what to do about it";
  EXPECT_TRUE(runtime_.told_idle["a"]) << "it fits, and holds GPUs";
  EXPECT_EQ(Reason(), Told());
  EXPECT_EQ(JobOf("a").given(), 2) << "the next try";
  LookUntil("the second", [&] { return Told().starts_with(missing + "2 of 6 tries"); });
  LookUntil("those of the third to train", [&] { return Trains("a", 2); });
  Look();
  EXPECT_EQ(Told(), "");
  EXPECT_EQ(Reason(), "");
}

TEST_F(LateWorkersTest, AJobThatIsGivenUpSaysWhatItsScriptLacks) {
  std::set<std::string> all;
  for (int worker = 0; worker < 20; ++worker) all.insert("a." + std::to_string(worker));
  Begin(1, all);
  LookUntil("it to be given up", [&] { return JobOf("a").over; });
  const std::string& why = runtime_.jobs.at("a").job.reason;
  EXPECT_NE(why.find("did not join within 120 s: its workers must run an elastic program"),
            std::string::npos)
      << why;
}

TEST_F(LateWorkersTest, OneOfSeveralThatIsMissingIsToldAndTriedOnAnotherNode) {
  Begin(2, {"a.1"});
  LookUntil("the other to train and it to be late", [&] { return !Told().empty(); });
  EXPECT_EQ(Told(), "one of its workers has not joined within 120 s, in 1 try");
  EXPECT_EQ(JobOf("a").worker_group.membership().members, std::vector<std::string>{"a.0"});
  EXPECT_EQ(Reason(), Told());
  LookUntil("two to train", [&] { return Trains("a", 2); });
  EXPECT_EQ(JobOf("a").shares.back().node, 1);
  Look();
  EXPECT_EQ(Told(), "");
  EXPECT_EQ(JobOf("a").worker_group.past().backoff.late_tries, 0) << "whatever is lost later";
}

TEST_F(LateWorkersTest, OneThatIsStartedElsewhereHasItsTime) {
  Begin(2, {"a.1", "a.2", "a.3"});
  LookUntil("it to be late", [&] { return !Told().empty(); });
  port_->WaitForChange(0);
  Decide({{"a", 1}});
  Look();
  EXPECT_EQ(Told(), "") << "nobody is missing";
  port_->WaitForChange(0);
  Decide({{"a", 2}});
  Look();
  EXPECT_EQ(Told(), "") << "there is time";
}

TEST_F(LateWorkersTest, AJobThatTrainsWithoutOneIsNotGivenUpByTheNextDaemonEither) {
  std::set<std::string> all;
  for (int worker = 1; worker < 20; ++worker) all.insert("a." + std::to_string(worker));
  Begin(2, all);
  LookUntil("more tries than failures are allowed", [&] { return Told().ends_with("in 7 tries"); });
  Serve();
  runtime_.deaf = true;  // the worker that trains has not come back yet
  Look();
  EXPECT_EQ(runtime_.jobs.at("a").job.state, JobState::kActive);
  EXPECT_TRUE(Told().ends_with("in 7 tries"));
}

TEST_F(LateWorkersTest, TheNextDaemonKnows) {
  Begin(1, {"a.0", "a.1", "a.2"});
  LookUntil("the first try to be over", [&] { return !Told().empty(); });
  const std::string told = Told();
  runtime_.explained.clear();
  Serve();
  Look();
  EXPECT_EQ(Told(), told);
}

}  // namespace
}  // namespace allot
