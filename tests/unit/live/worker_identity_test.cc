// Workers that their platform is asked about when they join: docs/formats/worker_protocol.md.

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "live/workers/worker_hub.h"
#include "tests/unit/live/hub_peer.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using testing_support::HubPeer;

class WorkerIdentityTest : public testing_support::HubFixture {
 protected:
  struct Question {
    std::uint64_t join;
    std::string worker, identity;
  };

  WorkerIdentityTest() {
    hub_->AskIdentity(
        [this](std::uint64_t join, const std::string& worker, const std::string& identity) {
          questions_.push_back({join, worker, identity});
        });
    hub_->Expect("j", "j.0", true);
  }
  void UntilAsked(std::size_t times) {
    for (int i = 0; i < 10'000 && questions_.size() < times; ++i) hub_->Serve(0.001);
    ASSERT_EQ(questions_.size(), times) << log_.str();
  }
  void JoinAs(HubPeer* peer, const std::string& identity) {
    const std::size_t before = questions_.size();
    peer->Join(hub_.get(), "j.0", {{"identity", identity}});
    UntilAsked(before + 1);
  }

  std::vector<Question> questions_;
};

TEST_F(WorkerIdentityTest, AWorkerHasNoRightsUntilItIsKnown) {
  HubPeer worker(path_);
  JoinAs(&worker, "token of pod 7");
  EXPECT_EQ(questions_[0].worker, "j.0");
  EXPECT_EQ(questions_[0].identity, "token of pod 7");
  EXPECT_FALSE(hub_->joined("j.0"));
  hub_->Identified(questions_[0].join, "");
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "welcome");
  EXPECT_TRUE(hub_->joined("j.0"));
}

TEST_F(WorkerIdentityTest, WhoIsAnotherIsCutAndTheTrueWorkerStays) {
  HubPeer worker(path_);
  JoinAs(&worker, "true");
  hub_->Identified(questions_[0].join, "");
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "welcome");
  HubPeer thief(path_);  // knows the job's token
  JoinAs(&thief, "of another pod");
  thief.Say({{"say", "finished"}, {"step", 9}, {"work", 9}});
  hub_->Identified(questions_[1].join, "its token is of another pod");
  EXPECT_TRUE(thief.Hear(hub_.get()).is_null()) << "a word would end the true worker";
  EXPECT_EQ(Logged("worker j.0 must be who it says it is, but its token is of another pod"), 1);
  EXPECT_FALSE(hub_->finished("j"));
  worker.Say({{"say", "finished"}, {"step", 5}, {"work", 5}});
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "acknowledged") << "its connection was taken";
}

TEST_F(WorkerIdentityTest, WhoSaysNoneIsToldWhatIsMissing) {
  HubPeer worker(path_);
  worker.Join(hub_.get(), "j.0");
  const Json refused = worker.Hear(hub_.get());
  EXPECT_EQ(refused["say"], "refused");
  EXPECT_NE(refused["why"].get<std::string>().find("ALLOT_IDENTITY_FILE"), std::string::npos);
  EXPECT_TRUE(questions_.empty());
}

TEST_F(WorkerIdentityTest, OneWithoutAnIdentityIsNotAsked) {
  HubPeer worker(path_);
  worker.Join(hub_.get(), "j.1");
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "welcome");
  EXPECT_TRUE(questions_.empty());
}

TEST_F(WorkerIdentityTest, WhatIsSaidMeanwhileIsHeardAfterwards) {
  HubPeer worker(path_);
  JoinAs(&worker, "true");
  worker.Say({{"say", "finished"}, {"step", 5}, {"work", 5}});
  hub_->Serve(0.01);
  EXPECT_FALSE(hub_->finished("j"));
  hub_->Identified(questions_[0].join, "");
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "welcome");
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "acknowledged");
}

TEST_F(WorkerIdentityTest, WhoSaysTooMuchMeanwhileIsCut) {
  HubPeer worker(path_);
  JoinAs(&worker, "true");
  for (int i = 0; i < 9; ++i) worker.Say({{"say", "progress"}, {"epoch", -1}, {"step", i}});
  EXPECT_TRUE(worker.Hear(hub_.get()).is_null());
  hub_->Identified(questions_[0].join, "");  // of a connection that is gone: nothing
  EXPECT_FALSE(hub_->joined("j.0"));
}

TEST_F(WorkerIdentityTest, AWorkerThatWasRemovedMeanwhileIsRefused) {
  HubPeer worker(path_);
  JoinAs(&worker, "true");
  hub_->RemoveWorker("j.0");
  hub_->Identified(questions_[0].join, "");
  EXPECT_EQ(worker.Hear(hub_.get())["say"], "refused");
}

}  // namespace
}  // namespace allot
