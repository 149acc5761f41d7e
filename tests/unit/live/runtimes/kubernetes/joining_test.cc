// Which pods may join as workers: those that know their job's token and, where the daemon may ask
// the API server whose a token is, show that they are the worker's pod.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/live/hub_peer.h"
#include "tests/unit/live/runtimes/kubernetes/kubernetes_runtime_fixture.h"

namespace allot {
namespace {

using testing_support::HubPeer;

class JoiningTest : public KubernetesRuntimeTest {
 protected:
  // Job "a" with two workers that begin.
  void BeginJob() {
    Begin();
    job_ = SubmitAndSee("a");
    ASSERT_TRUE(runtime_->Start(job_, Requests(job_, {"n1", "n2"})).ok());
    for (const int number : {0, 1}) {
      Until("a worker", [&] { return FindWorker(Worker(number)) != nullptr; });
    }
  }
  std::string Worker(int number) const { return fmt::format("{}.{}", job_, number); }
  // The word after the join as worker 0 of a program that shows the token of the pod `name`; "":
  // it is cut.
  std::string JoinAs(const std::string& name) {
    const Json pod = server_.Get("pods", "default/" + name);
    HubPeer peer(PortOfWorkers(), job_);
    Json more = Json::object();
    if (!pod.is_null()) more["identity"] = FakeToken(pod["metadata"]["uid"]);
    peer.Join(runtime_.get(), Worker(0), more, TokenOfJob());
    const Json heard = peer.Hear(runtime_.get());
    return heard.is_null() ? "" : heard["say"].get<std::string>();
  }
  bool HasVolume() const { return server_.Get("pods", "default/a-w0")["spec"].contains("volumes"); }

  std::string job_;
};

TEST_F(JoiningTest, AWorkersPodJoinsAndNoOther) {
  BeginJob();
  EXPECT_TRUE(HasVolume());
  EXPECT_EQ(JoinAs("a-w1"), "") << "the pod of another worker of the job";
  EXPECT_EQ(JoinAs("none"), "refused") << "one that says none";
  Look();
  EXPECT_NE(FindWorker(Worker(0))->state, WorkerState::kReady);
  EXPECT_EQ(JoinAs("a-w0"), "welcome");
  Look();
  EXPECT_EQ(FindWorker(Worker(0))->state, WorkerState::kReady);
}

TEST_F(JoiningTest, APodOfAnotherNamespaceIsNotTheWorkers) {
  BeginJob();
  Json copy = server_.Get("pods", "default/a-w0");
  copy["metadata"]["namespace"] = "other";
  copy["metadata"]["name"] = "z";
  copy["metadata"].erase("uid");
  const Json other = server_.Create("pods", copy);
  Until("the copy", [&] { return server_.Count("?watch") >= 3; });
  HubPeer peer(PortOfWorkers(), job_);
  peer.Join(runtime_.get(), Worker(0), {{"identity", FakeToken(other["metadata"]["uid"])}},
            TokenOfJob());
  EXPECT_TRUE(peer.Hear(runtime_.get()).is_null());
  EXPECT_EQ(JoinAs("a-w0"), "welcome") << "the copy counts as the worker's pod";
}

TEST_F(JoiningTest, ALaterDaemonAsksAnew) {
  BeginJob();
  Begin();
  Until("the worker", [&] { return FindWorker(Worker(0)) != nullptr; });
  EXPECT_EQ(JoinAs("a-w1"), "");
  EXPECT_EQ(JoinAs("a-w0"), "welcome");
}

TEST_F(JoiningTest, AnApiServerThatDoesNotAnswerLetsNobodyIn) {
  BeginJob();
  server_.Refuse("POST /apis/authentication.k8s.io", 403, {{"reason", "Forbidden"}});
  EXPECT_EQ(JoinAs("a-w0"), "") << "it trains on and tries again";
  EXPECT_EQ(JoinAs("a-w0"), "welcome");
}

TEST_F(JoiningTest, WhereNobodyCanBeAskedTheJobsTokenIsEnough) {
  server_.Refuse("POST /apis/authorization.k8s.io", 201, {{"status", {{"allowed", false}}}});
  BeginJob();
  EXPECT_FALSE(HasVolume());
  EXPECT_EQ(JoinAs("none"), "welcome");
  EXPECT_EQ(server_.Count("tokenreviews"), 0);
}

TEST_F(JoiningTest, WhatIsOffIsNotAsked) {
  identity_ = WorkerIdentity::kOff;
  BeginJob();
  EXPECT_FALSE(HasVolume());
  EXPECT_EQ(JoinAs("none"), "welcome");
  EXPECT_EQ(server_.Count("selfsubjectaccessreviews"), 0);
}

}  // namespace
}  // namespace allot
