// Who may speak for a worker, and who not: docs/formats/worker_protocol.md from the daemon's side.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "live/workers/worker_hub.h"
#include "tests/unit/live/hub_peer.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using testing_support::HubPeer;
using testing_support::kHubToken;

class WorkerHubAuthTest : public testing_support::HubFixture {
 protected:
  // `peer` has said a line that nobody but an attacker says.
  void IsCut(HubPeer* peer, const std::string& why) {
    EXPECT_TRUE(peer->Hear(hub_.get()).is_null())
        << "a word would end the true worker, or the connection stays open: " << why;
    EXPECT_EQ(Logged("a line must have the code of its place"), 1) << why << ": " << log_.str();
  }
  void Welcome(HubPeer* peer, const std::string& worker) {
    peer->Join(hub_.get(), worker);
    EXPECT_EQ(peer->Hear(hub_.get())["say"], "welcome");
  }
  static std::string Progress(int step) {
    return Json{{"say", "progress"}, {"epoch", -1}, {"step", step}}.dump();
  }
  std::int64_t step() const { return hub_->Progress("j").step; }
};

TEST_F(WorkerHubAuthTest, AWorkerJoinsWithoutSayingItsToken) {
  HubPeer worker(path_);
  Welcome(&worker, "j.0");
  EXPECT_TRUE(hub_->joined("j.0"));
  EXPECT_EQ(worker.said().find(kHubToken), std::string::npos);
  EXPECT_EQ(log_.str(), "");
}

TEST_F(WorkerHubAuthTest, WhoGuessesTheTokenDoesNotJoin) {
  HubPeer stranger(path_);
  EXPECT_TRUE(stranger.Hello(hub_.get(), "j.0", "guessed").is_null()) << "no code of this token";
  stranger.Say({{"say", "join"}, {"job", "j"}, {"worker", "j.0"}});
  IsCut(&stranger, "a join with the code of another token");
  EXPECT_FALSE(hub_->joined("j.0"));
}

TEST_F(WorkerHubAuthTest, ASecondHelloOrAJoinForAnotherIsRefused) {
  const Json hello{{"say", "hello"}, {"job", "j"}, {"worker", "j.1"}, {"nonce", NewToken()}};
  const Json join{{"say", "join"}, {"job", "j"}, {"worker", "j.1"}, {"token", kHubToken}};
  for (const Json& second : {hello, join}) {
    HubPeer worker(path_);
    EXPECT_EQ(worker.Hello(hub_.get(), "j.0")["say"], "challenge");
    worker.Say(second);
    EXPECT_EQ(worker.Hear(hub_.get())["say"], "refused") << second;
  }
  EXPECT_FALSE(hub_->joined("j.1"));
}

TEST_F(WorkerHubAuthTest, AHelloOfNobodyOrWithoutANonceIsRefused) {
  const std::string nonce = NewToken();
  const Json wrong[] = {
      {{"say", "hello"}, {"job", "k"}, {"worker", "j.0"}, {"nonce", nonce}},
      {{"say", "hello"}, {"job", "j"}, {"worker", "j.7"}, {"nonce", nonce}},
      {{"say", "hello"}, {"job", "j"}, {"worker", "j.0"}, {"nonce", "0"}},
      {{"say", "hello"}, {"job", "j"}, {"worker", "j.0"}, {"nonce", nonce + "\n"}},
      {{"say", "hello"}, {"job", "j"}, {"worker", "j.0"}, {"nonce", 7}},
      {{"say", "hello"}, {"job", "j"}, {"worker", "j.0"}},
  };
  for (const Json& hello : wrong) {
    HubPeer stranger(path_);
    stranger.Say(hello);
    EXPECT_EQ(stranger.Hear(hub_.get())["say"], "refused") << hello;
    EXPECT_TRUE(stranger.Hear(hub_.get()).is_null()) << "the connection stays open";
  }
}

TEST_F(WorkerHubAuthTest, ALineSaidAgainClosesTheConnection) {
  HubPeer worker(path_);
  Welcome(&worker, "j.0");
  const std::string line = worker.Signed(Progress(5));
  worker.SayLine(line);
  worker.SayLine(line);
  IsCut(&worker, "a line said again");
  EXPECT_EQ(step(), 5);
}

TEST_F(WorkerHubAuthTest, LinesInAnotherOrderCloseTheConnection) {
  HubPeer worker(path_);
  Welcome(&worker, "j.0");
  const std::string first = worker.Signed(Progress(5));
  worker.SayLine(worker.Signed(Progress(6)));
  worker.SayLine(first);
  IsCut(&worker, "the second line first");
  EXPECT_EQ(step(), 0);
}

TEST_F(WorkerHubAuthTest, ALineThatWasChangedClosesTheConnection) {
  HubPeer worker(path_);
  Welcome(&worker, "j.0");
  std::string line = worker.Signed(Progress(5));
  line[line.find('5')] = '9';
  worker.SayLine(line);
  IsCut(&worker, "step 9 instead of 5");
  EXPECT_EQ(step(), 0);
}

TEST_F(WorkerHubAuthTest, ALineWithoutACodeClosesTheConnection) {
  HubPeer worker(path_);
  Welcome(&worker, "j.0");
  worker.SayLine(Progress(5));
  IsCut(&worker, "no code");
  EXPECT_EQ(step(), 0);
}

TEST_F(WorkerHubAuthTest, AFloodInAJoinedConnectionDoesNotEndTheWorker) {
  HubPeer worker(path_);
  Welcome(&worker, "j.0");
  worker.SayLine(std::string(70'000, 'x'));
  EXPECT_TRUE(worker.Hear(hub_.get()).is_null());
}

TEST_F(WorkerHubAuthTest, TheDaemonsOwnLinesAreNotTheWorkers) {
  HubPeer worker(path_);
  EXPECT_EQ(worker.Hello(hub_.get(), "j.0")["say"], "challenge");
  HubPeer other(path_);
  other.Say({{"say", "hello"}, {"job", "j"}, {"worker", "j.0"}, {"nonce", NewToken()}});
  const auto challenge = other.HearLine(hub_.get());
  ASSERT_TRUE(challenge);
  other.SayLine(*challenge);
  IsCut(&other, "what the daemon said, to itself");
}

TEST_F(WorkerHubAuthTest, WhatWasRecordedOpensNoSecondConnection) {
  HubPeer worker(path_);
  Welcome(&worker, "j.0");
  const std::string& said = worker.said();
  const std::size_t end = said.find('\n');
  HubPeer thief(path_);
  thief.SayLine(said.substr(0, end));
  EXPECT_TRUE(thief.HearLine(hub_.get())) << "a challenge of its own";
  thief.SayLine(said.substr(end + 1, said.size() - end - 2));
  IsCut(&thief, "the join of another connection");
  worker.SayText(Progress(5));
  EXPECT_TRUE(hub_->Announce("j", {0, {"j.0"}}).ok());
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "epoch") << "the true worker has lost its connection";
}

TEST_F(WorkerHubAuthTest, AStolenLineCountsInNoOtherConnection) {
  HubPeer first(path_), second(path_);
  Welcome(&first, "j.0");
  Welcome(&second, "j.1");
  second.SayLine(first.Signed(Progress(5)));
  IsCut(&second, "a line of another worker");
  EXPECT_EQ(step(), 0);
}

TEST_F(WorkerHubAuthTest, NoTokenIsLoggedWhateverIsSaid) {
  const std::string token = kHubToken;
  for (const std::string& line :
       {R"({"say":"join","job":"j","worker":"j.0","token":")" + token + "\"",
        R"({"say":"join","job":"j","worker":"j.0","token":[")" + token + "\"]}",
        R"({"say":"join","job":"j","worker":"j.7","token":")" + token + "\"}"}) {
    HubPeer worker(path_);
    worker.SayLine(line);
    const auto answer = worker.HearLine(hub_.get());
    EXPECT_EQ(answer.value_or("").find(token), std::string::npos) << *answer;
  }
  EXPECT_EQ(Logged(token), 0) << log_.str();
}

}  // namespace
}  // namespace allot
