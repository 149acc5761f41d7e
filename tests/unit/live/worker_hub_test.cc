#include "live/workers/worker_hub.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "live/workers/worker_pace.h"
#include "tests/unit/live/hub_peer.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using Peer = testing_support::HubPeer;
using WorkerHubTest = testing_support::HubFixture;

TEST_F(WorkerHubTest, TellsMembersTheirEpochAndLearnsWhoReachedIt) {
  Peer a(path_), b(path_);
  a.Join(hub_.get(), "j.0", {{"address", "127.0.0.1:5"}});
  EXPECT_EQ(a.Hear(hub_.get())["say"], "welcome");
  b.Join(hub_.get(), "j.1");
  EXPECT_EQ(b.Hear(hub_.get())["say"], "welcome");
  EXPECT_TRUE(hub_->joined("j.1"));
  EXPECT_TRUE(hub_->Announce("j", {0, {"j.0", "j.1"}}).ok());
  const Json epoch = b.Hear(hub_.get());
  EXPECT_EQ(epoch["members"], Json({"j.0", "j.1"}));
  EXPECT_EQ(epoch["addresses"][0], "127.0.0.1:5");
  a.Say({{"say", "reached"}, {"epoch", 0}, {"step", 0}});
  hub_->Serve(0.05);
  EXPECT_EQ(hub_->Progress("j").epoch, -1) << "one of two";
  b.Say({{"say", "reached"}, {"epoch", 0}, {"step", 0}});
  hub_->Serve(0.05);
  EXPECT_EQ(hub_->Progress("j").epoch, 0);
}

TEST_F(WorkerHubTest, LearnsOfEpochsThatAnEarlierDaemonAnnounced) {
  Peer a(path_);
  a.Join(hub_.get(), "j.0", {{"epoch", -1}, {"heard", 3}});
  EXPECT_EQ(a.Hear(hub_.get())["say"], "welcome");
  EXPECT_EQ(hub_->Progress("j").epoch, 3) << "it trains in none and waits for a later one";
}

TEST_F(WorkerHubTest, ManyWorkersTellTheirProgressLessOften) {
  constexpr int kMany = 201;
  std::vector<std::unique_ptr<Peer>> peers;
  peers.reserve(kMany);
  for (int n = 0; n < kMany; ++n) {
    const std::string name = "j." + std::to_string(n);
    hub_->Expect("j", name);
    peers.push_back(std::make_unique<Peer>(path_));
    peers.back()->Join(hub_.get(), name);
    const Json welcome = peers.back()->Hear(hub_.get());
    EXPECT_EQ(welcome["every"], n < kMany - 1 ? 0.5 : 1) << n;
  }
  EXPECT_EQ(peers.front()->Hear(hub_.get())["every"], 1) << "those who were there before, too";
}

TEST_F(WorkerHubTest, WorkersHearThatItLivesAsOftenAsItPromised) {
  Peer a(path_);
  a.Join(hub_.get(), "j.0");
  EXPECT_GT(a.Hear(hub_.get())["speaks"], 0);
  EXPECT_EQ(a.HearAny(hub_.get())["say"], "here");
  EXPECT_EQ(a.HearAny(hub_.get())["say"], "here");
}

// A look at the cluster, in which nobody reads.
TEST_F(WorkerHubTest, ALookThatLastsLongIsNoSilenceOfWorkers) {
  constexpr Seconds kLook = 20;  // longer than --worker-timeout
  Peer a(path_), b(path_);
  a.Join(hub_.get(), "j.0");
  EXPECT_EQ(a.Hear(hub_.get())["say"], "welcome");
  b.Join(hub_.get(), "j.1");
  EXPECT_EQ(b.Hear(hub_.get())["say"], "welcome");
  for (int look = 0; look < 3; ++look) {
    a.Say({{"say", "progress"}, {"epoch", 0}, {"step", look}});
    now_ += kLook;
    EXPECT_LT(hub_->silent("j.0"), kLook / 2) << "what it said is not read yet";
    hub_->Serve(0.01);
    EXPECT_LT(hub_->silent("j.0"), kLook / 2);
  }
  EXPECT_GE(hub_->silent("j.1"), 3 * kLook) << "all is read, it has said nothing";
}

TEST_F(WorkerHubTest, WhatIsNotReadYetIsNoSilenceWhileOthersSayMuch) {
  Peer quiet(path_);
  quiet.Join(hub_.get(), "j.0");
  EXPECT_EQ(quiet.Hear(hub_.get())["say"], "welcome");
  constexpr int kTalkers = 6;
  constexpr int kLineCount = 250;  // each; more together than are read at once
  std::vector<std::unique_ptr<Peer>> talkers;
  talkers.reserve(kTalkers);
  for (int n = 1; n <= kTalkers; ++n) {
    const std::string name = "j." + std::to_string(n);
    hub_->Expect("j", name);
    talkers.push_back(std::make_unique<Peer>(path_));
    talkers.back()->Join(hub_.get(), name);
    EXPECT_EQ(talkers.back()->Hear(hub_.get())["say"], "welcome");
  }
  now_ += 20;
  for (const auto& talker : talkers) {
    std::string lines;
    for (int step = 1; step <= kLineCount; ++step) {
      if (step > 1) lines += "\n";
      lines += talker->Signed(Json{{"say", "reached"}, {"epoch", 0}, {"step", step}}.dump());
    }
    talker->SayLine(lines);
  }
  quiet.Say({{"say", "progress"}, {"epoch", 0}, {"step", 1}});
  while (hub_->Serve(0.01)) EXPECT_LT(hub_->silent("j.0"), 10);
  EXPECT_EQ(hub_->Progress("j").step, kLineCount) << "all is read";
}

TEST_F(WorkerHubTest, WorkersOfADaemonThatLooksForLongExpectItsWordLessOften) {
  Peer a(path_);
  a.Join(hub_.get(), "j.0");
  const double before = a.Hear(hub_.get())["speaks"];
  constexpr Seconds kLook = 7;  // they would leave after three times `before`
  ASSERT_GT(kLook, 3 * before);
  now_ += kLook;
  const Json welcome = a.Hear(hub_.get());
  EXPECT_EQ(welcome["say"], "welcome");
  EXPECT_GE(welcome["speaks"], kLook);
  EXPECT_EQ(welcome["every"], 0.5) << "they tell their progress as before";
}

TEST(WorkerPace, ShrinksOncePollsAreShort) {
  WorkerPace pace;
  const Seconds before = pace.speaks();
  EXPECT_TRUE(pace.AddPause(5));
  EXPECT_EQ(pace.speaks(), 8);
  int told = 0;
  for (int poll = 0; poll < 100; ++poll) told += pace.AddPause(poll % 2 == 0 ? 3.9 : 4.1) ? 1 : 0;
  EXPECT_EQ(told, 0) << "not to and fro";
  for (int poll = 0; poll < 100; ++poll) (void)pace.AddPause(0.01);
  EXPECT_EQ(pace.speaks(), before);
  EXPECT_TRUE(pace.AddPause(1000));
  EXPECT_LE(pace.speaks(), 16) << "a daemon that hangs is to be left";
}

TEST_F(WorkerHubTest, AHubEndsBeforeItsWorkers) {
  Peer a(path_);
  a.Join(hub_.get(), "j.0");
  EXPECT_EQ(a.Hear(hub_.get())["say"], "welcome");
  hub_.reset();
  SUCCEED() << "the connection has not outlived what it stands on";
}

TEST_F(WorkerHubTest, WhatCannotBeIsRefusedAndChangesNothing) {
  const Json good = {{"say", "progress"}, {"epoch", 0}, {"step", 5}, {"work", 50}};
  const std::pair<const char*, Json> wrong[] = {
      {"work", -1},    {"work", "many"}, {"step", -3},    {"step", 1.5},
      {"step", 1e300}, {"epoch", -2},    {"epoch", 1e18}, {"rate", -1},
      {"total", -1},   {"noise", "x"},   {"noise", -1},   {"loss", Json::array()}};
  EXPECT_TRUE(hub_->Announce("j", {0, {"j.0"}}).ok());
  for (const auto& [key, value] : wrong) {
    Peer peer(path_);
    peer.Join(hub_.get(), "j.0");
    EXPECT_EQ(peer.Hear(hub_.get())["say"], "welcome");
    EXPECT_EQ(peer.Hear(hub_.get())["say"], "epoch");
    peer.Say(good);
    Json bad = {{"say", "progress"}, {"epoch", 0}, {"step", 9}, {"work", 90}};
    bad[key] = value;
    peer.Say(bad);
    const Json answer = peer.Hear(hub_.get());
    EXPECT_EQ(answer["say"], "refused") << bad;
    const std::string why = answer.value("why", "");
    EXPECT_NE(why.find(fmt::format("worker j.0: '{}' must be", key)), std::string::npos) << why;
    EXPECT_EQ(hub_->Progress("j").work, 50) << bad;
    EXPECT_EQ(hub_->Progress("j").step, 5) << bad;
  }
}

Json BatchMessage() {
  return {{"initial", 64},
          {"most", 1024},
          {"least_local", 8},
          {"most_local", 256},
          {"workers", 2},
          {"local", 128},
          {"accumulation", 1},
          {"timed", {{"workers", 2}, {"local", 128}, {"gradient", 0.5}, {"iteration", 0.75}}}};
}

TEST_F(WorkerHubTest, ABatchIsHeardAndAChoiceToldAlsoToThoseThatJoinLater) {
  Peer a(path_), b(path_);
  a.Join(hub_.get(), "j.0");
  EXPECT_EQ(a.Hear(hub_.get())["say"], "welcome");
  EXPECT_TRUE(hub_->Announce("j", {0, {"j.0"}}).ok());
  EXPECT_EQ(a.Hear(hub_.get())["say"], "epoch");
  EXPECT_EQ(hub_->Progress("j").batch.initial, 0);
  a.Say({{"say", "progress"}, {"epoch", 0}, {"step", 5}, {"batch", BatchMessage()}});
  hub_->Serve(0.05);
  const BatchReport heard = hub_->Progress("j").batch;
  EXPECT_EQ(heard.initial, 64);
  EXPECT_EQ(heard.most, 1024);
  EXPECT_EQ(heard.present, (WorkerBatchOrder{2, 128, 1}));
  EXPECT_EQ(heard.timed, (WorkerBatchOrder{2, 128, 0}));
  EXPECT_EQ(heard.gradient, 0.5);
  EXPECT_EQ(heard.iteration, 0.75);

  hub_->SetBatch("j", {2, 200, 0});
  const Json told = a.Hear(hub_.get());
  EXPECT_EQ(told, (Json{{"say", "batch"}, {"workers", 2}, {"local", 200}, {"accumulation", 0}}));
  b.Join(hub_.get(), "j.1");
  EXPECT_EQ(b.Hear(hub_.get())["say"], "welcome");
  EXPECT_EQ(b.Hear(hub_.get()), told);
  EXPECT_TRUE(hub_->Announce("j", {1, {"j.0", "j.1"}}).ok());
  EXPECT_TRUE(std::isnan(hub_->Progress("j").batch.iteration)) << "times are of a group";
}

TEST_F(WorkerHubTest, AdviceOnCheckpointsIsSentAlsoToThoseThatJoinLater) {
  Peer a(path_), b(path_);
  a.Join(hub_.get(), "j.0");
  EXPECT_EQ(a.Hear(hub_.get())["say"], "welcome");
  a.Say({{"say", "saved"}, {"step", 5}, {"work", 320.0}, {"seconds", 1.5}});
  hub_->Serve(0.05);
  EXPECT_EQ(hub_->Progress("j").save_seconds, 1.5);
  EXPECT_FALSE(hub_->checkpoint_every("j"));
  hub_->SetCheckpointEvery("j", 900);
  const Json advice = a.Hear(hub_.get());
  EXPECT_EQ(advice, (Json{{"say", "checkpoint"}, {"every", 900.0}}));
  EXPECT_EQ(hub_->checkpoint_every("j"), 900);
  b.Join(hub_.get(), "j.1");
  EXPECT_EQ(b.Hear(hub_.get())["say"], "welcome");
  EXPECT_EQ(b.Hear(hub_.get()), advice);
}

TEST_F(WorkerHubTest, ABatchThatCannotBeIsRefusedAndChangesNothing) {
  const std::pair<const char*, Json> wrong[] = {{"/initial", 0},
                                                {"/initial", 2048},
                                                {"/initial", nullptr},
                                                {"/most", 1 << 25},
                                                {"/least_local", 0},
                                                {"/least_local", 512},
                                                {"/most_local", "x"},
                                                {"/workers", 0},
                                                {"/workers", 1e9},
                                                {"/local", 257},
                                                {"/local", 1.5},
                                                {"/accumulation", -1},
                                                {"/accumulation", 1e18},
                                                {"/timed", 3},
                                                {"/timed/gradient", -0.5},
                                                {"/timed/gradient", 0},
                                                {"/timed/gradient", 1},
                                                {"/timed/gradient", 1e-300},
                                                {"/timed/iteration", "x"},
                                                {"/timed/iteration", 1e300},
                                                {"/timed/iteration", nullptr},
                                                {"/timed/local", 257},
                                                {"", Json::array()}};
  EXPECT_TRUE(hub_->Announce("j", {0, {"j.0"}}).ok());
  for (const auto& [where, value] : wrong) {
    Peer peer(path_);
    peer.Join(hub_.get(), "j.0");
    EXPECT_EQ(peer.Hear(hub_.get())["say"], "welcome");
    EXPECT_EQ(peer.Hear(hub_.get())["say"], "epoch");
    Json batch = BatchMessage();
    batch[Json::json_pointer(where)] = value;
    peer.Say({{"say", "progress"}, {"epoch", 0}, {"step", 9}, {"work", 90}, {"batch", batch}});
    const Json answer = peer.Hear(hub_.get());
    EXPECT_EQ(answer["say"], "refused") << where << " " << value;
    EXPECT_NE(answer.value("why", "").find("must "), std::string::npos) << answer;
    EXPECT_EQ(hub_->Progress("j").batch.initial, 0) << where << " " << value;
    EXPECT_EQ(hub_->Progress("j").work, 0) << "all of a message or nothing";
  }
  Peer peer(path_);
  peer.Join(hub_.get(), "j.0");
  EXPECT_EQ(peer.Hear(hub_.get())["say"], "welcome");
  EXPECT_EQ(peer.Hear(hub_.get())["say"], "epoch");
  const std::string no_number = R"({"say":"progress","epoch":0,"noise":NaN})";
  peer.SayText(no_number);
  EXPECT_EQ(peer.Hear(hub_.get())["say"], "refused");
}

TEST_F(WorkerHubTest, AnEarlierEpochIsRefused) {
  EXPECT_TRUE(hub_->Announce("j", {3, {"j.0"}}).ok());
  EXPECT_TRUE(hub_->Announce("j", {3, {"j.0"}}).ok());
  EXPECT_FALSE(hub_->Announce("j", {2, {"j.0"}}).ok());
}

TEST_F(WorkerHubTest, RefusesConnectionsThatDoNotBeginWithHello) {
  const Json join{
      {"say", "join"}, {"job", "j"}, {"worker", "j.0"}, {"token", testing_support::kHubToken}};
  for (const Json& first : {join, Json{{"say", "progress"}}}) {
    Peer peer(path_);
    peer.Say(first);
    EXPECT_EQ(peer.Hear(hub_.get())["say"], "refused") << first.dump();
    EXPECT_TRUE(peer.Hear(hub_.get()).is_null()) << "the connection stays open";
  }
  EXPECT_FALSE(hub_->joined("j.0"));
}

TEST_F(WorkerHubTest, FinishedIsWrittenDownBeforeItIsAcknowledged) {
  std::string written;
  hub_->OnFinished([&](const std::string& job) { written = job; });
  Peer a(path_);
  a.Join(hub_.get(), "j.0");
  a.Hear(hub_.get());
  a.Say({{"say", "finished"}, {"step", 7}, {"work", 70}});
  EXPECT_EQ(a.Hear(hub_.get())["say"], "acknowledged");
  EXPECT_EQ(written, "j");
  EXPECT_TRUE(hub_->finished("j"));
  EXPECT_EQ(hub_->Progress("j").work, 70);
}

TEST_F(WorkerHubTest, ProgressOfAGroupThatWasCountsForNothing) {
  Peer a(path_);
  a.Join(hub_.get(), "j.0");
  a.Hear(hub_.get());
  EXPECT_TRUE(hub_->Announce("j", {1, {"j.0"}}).ok());
  a.Say({{"say", "progress"}, {"epoch", 0}, {"step", 5}, {"rate", 1e9}});
  hub_->Serve(0.05);
  EXPECT_TRUE(std::isnan(hub_->Progress("j").rate));
}

TEST_F(WorkerHubTest, AWorkerThatConnectsAgainReplacesItsConnection) {
  Peer before(path_), after(path_);
  before.Join(hub_.get(), "j.0");
  EXPECT_EQ(before.Hear(hub_.get())["say"], "welcome");
  after.Join(hub_.get(), "j.0");
  EXPECT_EQ(after.Hear(hub_.get())["say"], "welcome");
  EXPECT_TRUE(before.Hear(hub_.get()).is_null()) << "the old connection stays open";
  EXPECT_TRUE(hub_->Announce("j", {0, {"j.0"}}).ok());
  EXPECT_EQ(after.Hear(hub_.get())["say"], "epoch");
}

TEST_F(WorkerHubTest, AWorkerThatReadsLateGetsAllAndHoldsNobodyUp) {
  Peer late(path_);
  late.Join(hub_.get(), "j.0");
  EXPECT_EQ(late.Hear(hub_.get())["say"], "welcome");
  constexpr int kEpochs = 5'000;  // far more than a socket holds
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    EXPECT_TRUE(hub_->Announce("j", {epoch, {"j.0"}}).ok());
  }
  Peer other(path_);  // only now: a slow machine takes longer for these than peers may keep silent
  other.Join(hub_.get(), "j.1");
  EXPECT_EQ(other.Hear(hub_.get())["say"], "welcome");
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    ASSERT_EQ(late.Hear(hub_.get())["epoch"], epoch);
  }
}

TEST_F(WorkerHubTest, AJobThatIsRemovedClosesItsConnections) {
  Peer a(path_);
  a.Join(hub_.get(), "j.0");
  EXPECT_EQ(a.Hear(hub_.get())["say"], "welcome");
  hub_->RemoveJob("j");
  EXPECT_TRUE(a.Hear(hub_.get()).is_null());
  EXPECT_FALSE(hub_->joined("j.0"));
}

TEST_F(WorkerHubTest, ALineWithoutEndIsCutOff) {
  Peer a(path_);
  const std::string flood(70'000, 'x');
  a.Say(flood);
  EXPECT_EQ(a.Hear(hub_.get())["say"], "refused");
}

TEST_F(WorkerHubTest, TheSocketIsItsUsersAlone) {
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

}  // namespace
}  // namespace allot
