// What the Kubernetes runtime does beyond the conformance suite: what a cluster and its users do to
// it. No processes: tests are the kubelets.

#include "live/runtimes/kubernetes/kubernetes_runtime.h"

#include <gtest/gtest.h>

#include "core/interrupt.h"
#include "tests/unit/live/runtimes/kubernetes/kubernetes_runtime_fixture.h"

namespace allot {
namespace {

using Json = nlohmann::json;

// ---- starting ----

TEST_F(KubernetesRuntimeTest, AllWorkersAreStartedOrNone) {
  Begin();
  const std::string job = SubmitAndSee("a");
  server_.Create("pods", {{"metadata", {{"name", "a-w1"}, {"namespace", "default"}}},
                          {"spec", Json::object()}});
  const auto requests = Requests(job, {"n1", "n2"});
  const Status done = runtime_->Start(job, requests);
  EXPECT_FALSE(done.ok());
  EXPECT_NE(done.message().find("AlreadyExists"), std::string::npos) << done.message();
  EXPECT_TRUE(server_.Get("pods", "default/a-w0").is_null()) << "it was started alone";
  Look();
  EXPECT_EQ(FindWorker(requests[0].worker), nullptr);
  EXPECT_EQ(EventsText(),
            "a: a pod of job " + job + ": 409 AlreadyExists: pods \"a-w*\" already exists\n")
      << "it has no number, as the next try has another one";
  server_.Remove("pods", "default/a-w1");
  EXPECT_TRUE(runtime_->Start(job, requests).ok());
  Until("both", [&] { return seen_.workers.size() == 2; });
}

TEST_F(KubernetesRuntimeTest, AQuotaThatIsExceededIsToldAndTheDaemonGoesOn) {
  Begin();
  const std::string job = SubmitAndSee("a");
  server_.Refuse(
      "POST /api/v1/namespaces/default/pods", 403,
      {{"reason", "Forbidden"}, {"message", "exceeded quota: gpus, used: 4, limited: 4"}});
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  EXPECT_NE(EventsText().find("exceeded quota: gpus, used: 4, limited: 4"), std::string::npos);
  EXPECT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 1)).ok());
}

TEST_F(KubernetesRuntimeTest, TheTokenIsInASecretOfTheJobsOwnAndOfTheKey) {
  const auto secrets = [&] {
    std::map<std::string, Json> found;
    server_.ForEach("secrets", [&](const Json& one) { found[one["metadata"]["name"]] = one; });
    return found;
  };
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  const auto first = secrets();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first.begin()->second["metadata"]["ownerReferences"][0]["name"], "a");
  EXPECT_NE(server_.Get("pods", "default/a-w0").dump().find(first.begin()->first),
            std::string::npos);
  Begin();  // its state folder has the key
  Until("the job", [&] { return FindJob(job) != nullptr; });
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 1)).ok());
  EXPECT_EQ(secrets(), first);
  std::filesystem::remove(state_ / "key");
  Begin();  // nobody may read Secrets: another key has another one
  Until("the job", [&] { return FindJob(job) != nullptr; });
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 2)).ok());
  const auto second = secrets();
  ASSERT_EQ(second.size(), 2U);
  EXPECT_NE(second.begin()->second["stringData"], second.rbegin()->second["stringData"]);
}

TEST_F(KubernetesRuntimeTest, AStartThatGotNoAnswerAndIsAskedAgainStartsOnce) {
  Begin();
  const std::string job = SubmitAndSee("a");
  const auto requests = Requests(job, {"n1", "n2"});
  ASSERT_TRUE(runtime_->Start(job, requests).ok());
  Begin();  // knows nothing of it yet, as if the first answer was lost
  Until("the workers", [&] { return seen_.workers.size() == 2; });
  const int posts = server_.Count("POST /api/v1/namespaces/default/pods");
  EXPECT_TRUE(runtime_->Start(job, requests).ok());
  EXPECT_EQ(server_.Count("POST /api/v1/namespaces/default/pods"), posts);
}

TEST_F(KubernetesRuntimeTest, ARestartOnSeveralNodesNeedsAService) {
  Begin();
  const Json restart = {{"allot.dev/max", "4"}, {"allot.dev/resize", "restart"}};
  const std::string job = SubmitAndSee("a", restart);
  const Status done = runtime_->Start(job, Requests(job, {"n1", "n2"}));
  EXPECT_NE(done.message().find("must name a headless Service"), std::string::npos)
      << done.message();
  const std::string other = SubmitAndSee(
      "b", restart, [](Json& object) { object["spec"]["template"]["spec"]["subdomain"] = "b"; });
  std::vector<WorkerRequest> requests = Requests(other, {"n1", "n2"});
  for (WorkerRequest& request : requests) request.plan = "dp=1 tp=2";
  EXPECT_TRUE(runtime_->Start(other, requests).ok());
  const std::string text = server_.Get("pods", "default/b-w1").dump();
  EXPECT_NE(text.find(R"({"name":"ALLOT_PLAN","value":"dp=1 tp=2"})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"({"name":"ALLOT_MASTER_ADDR","value":"b-w0.b.default"})"),
            std::string::npos)
      << text;
}

// ---- ends ----

TEST_F(KubernetesRuntimeTest, ARestartedJobIsCompleteWhenAllOfItsWorkersAre) {
  Begin();
  const std::string job =
      SubmitAndSee("a", {{"allot.dev/max", "4"}, {"allot.dev/resize", "restart"}},
                   [](Json& object) { object["spec"]["template"]["spec"]["subdomain"] = "a"; });
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1", "n2"})).ok());
  SetPod("a-w0", {{"phase", "Succeeded"}});
  Until("its end", [&] { return HasEnded(job + ".0"); });
  EXPECT_TRUE(IsIn(job, JobState::kActive)) << "one still runs";
  SetPod("a-w1", {{"phase", "Succeeded"}}, "n2");
  Until("the end", [&] { return IsIn(job, JobState::kFinished); });
  EXPECT_TRUE(HasEnded(job + ".1")) << "in the same snapshot";
  Until("Complete", [&] { return StatusOf("a").contains("completionTime"); });
  EXPECT_FALSE(server_.Get("pods", "default/a-w0").is_null()) << "its logs stay";
}

TEST_F(KubernetesRuntimeTest, ALaterDaemonSeesThatARestartedJobIsComplete) {
  Begin();
  const std::string job =
      SubmitAndSee("a", {{"allot.dev/max", "4"}, {"allot.dev/resize", "restart"}});
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  runtime_.reset();
  SetPod("a-w0", {{"phase", "Succeeded"}});
  Begin();
  Until("the end", [&] { return IsIn(job, JobState::kFinished); });
}

TEST_F(KubernetesRuntimeTest, AJobThatIsGivenUpBecomesFailedForItsUser) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  SetPod("a-w0", {{"phase", "Running"}});
  Until("active", [&] { return StatusOf("a").value("active", 0) == 1; });
  EXPECT_TRUE(runtime_->Fail(job, "six failures").ok());
  Look();
  EXPECT_TRUE(IsIn(job, JobState::kFailed));
  EXPECT_EQ(StatusOf("a")["conditions"].size(), 1U) << "FailureTarget, while a pod is active";
  EXPECT_TRUE(runtime_->Stop(job + ".0", StopMode::kKill).ok());
  server_.Remove("pods", "default/a-w0");
  Until("Failed", [&] { return StatusOf("a")["conditions"].size() == 2; });
  EXPECT_EQ(StatusOf("a")["conditions"][1]["message"], "six failures");
}

TEST_F(KubernetesRuntimeTest, AJobIsActiveForNoLongerThanItsUserSays) {
  Begin();
  const std::string job = SubmitAndSee("a", {{"allot.dev/max", "4"}}, [](Json& object) {
    object["spec"]["activeDeadlineSeconds"] = 60;
  });
  EXPECT_TRUE(IsIn(job, JobState::kActive));
  EXPECT_EQ(FindJob(job)->time_limit, 60);
  server_.Update("jobs", "default/a",
                 [](Json& object) { object["status"]["startTime"] = "2020-01-01T00:00:00Z"; });
  Until("the end", [&] { return IsIn(job, JobState::kFailed); });
  EXPECT_NE(FindJob(job)->reason.find("the 60 s of spec.activeDeadlineSeconds"), std::string::npos);
}

TEST_F(KubernetesRuntimeTest, AJobThatIsDeletedIsCancelledAndItsNameMayComeAgain) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  SetPod("a-w0", {{"phase", "Running"}});
  server_.Remove("jobs", "default/a");  // the collector deletes its pod, whose kubelet takes time
  Until("the end", [&] { return IsIn(job, JobState::kCancelled); });
  EXPECT_FALSE(HasEnded(job + ".0")) << "it still holds its GPU";
  const std::string again = SubmitAndSee("a");
  EXPECT_NE(again, job);
  EXPECT_FALSE(runtime_->Start(again, Requests(again, {"n1"})).ok()) << "the pod's name is taken";
  server_.Remove("pods", "default/a-w0");
  Until("its end", [&] { return HasEnded(job + ".0"); });
  EXPECT_FALSE(FindWorker(job + ".0")->failed);
  EXPECT_TRUE(runtime_->Start(again, Requests(again, {"n1"})).ok());
  runtime_->Forget(job);
  Look();
  EXPECT_EQ(FindJob(job), nullptr);
  EXPECT_NE(FindWorker(again + ".0"), nullptr);
}

TEST_F(KubernetesRuntimeTest, TheStatusOfAJobIsNotWrittenIntoALaterOneOfItsName) {
  Begin();
  const std::string job = SubmitAndSee("a");
  server_.Remove("jobs", "default/a");
  const std::string later = Submit("a", {{"allot.dev/max", "4"}});
  EXPECT_FALSE(runtime_->Cancel(job).ok());
  EXPECT_EQ(StatusOf("a").value("conditions", Json::array()), Json::array());
  Until("the later one", [&] { return FindJob(later) != nullptr; });
  EXPECT_TRUE(IsIn(later, JobState::kActive));
  EXPECT_TRUE(IsIn(job, JobState::kCancelled));
}

TEST_F(KubernetesRuntimeTest, AStatusThatIsRefusedIsSentMoreAndMoreRarely) {
  Begin();
  const std::string job = SubmitAndSee("a");
  server_.Refuse("PATCH /apis/batch/v1/namespaces/default/jobs/a/status", 403,
                 {{"reason", "Forbidden"}, {"message", "a webhook says no"}}, 2);
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  for (int polls = 0; polls < 20; ++polls) Look();
  EXPECT_LE(server_.Count("PATCH"), 3) << "of 20 polls";
  EXPECT_EQ(EventsText(), "a: 403 Forbidden: a webhook says no\n");
  Until("it is written", [&] { return StatusOf("a").value("active", 0) == 1; });
}

TEST_F(KubernetesRuntimeTest, AJobWithoutParallelismIsHeld) {
  Begin();
  const std::string job =
      SubmitAndSee("a", Json::object(), [](Json& object) { object["spec"]["parallelism"] = 0; });
  EXPECT_TRUE(IsIn(job, JobState::kHeld));
  EXPECT_EQ(FindJob(job)->reason, "spec.parallelism is 0");
  server_.Update("jobs", "default/a", [](Json& object) { object["spec"]["parallelism"] = 2; });
  Until("active", [&] { return IsIn(job, JobState::kActive); });
  EXPECT_EQ(FindJob(job)->requested, 2);
}

TEST_F(KubernetesRuntimeTest, AJobIsSuspendedByItsUser) {
  Begin();
  const std::string job = SubmitAndSee("a");
  const auto suspend = [&](bool on) {
    server_.Update("jobs", "default/a", [&](Json& object) { object["spec"]["suspend"] = on; });
  };
  suspend(true);
  Until("held", [&] { return IsIn(job, JobState::kHeld); });
  EXPECT_EQ(FindJob(job)->reason, "suspended (spec.suspend)");
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  suspend(false);
  Until("active", [&] { return IsIn(job, JobState::kActive); });
}

TEST_F(KubernetesRuntimeTest, AJobThatIsNotUnderstoodIsHeldAndItsUserToldOnce) {
  Begin();
  const std::string job = SubmitAndSee("a", {{"allot.dev/min", "4"}, {"allot.dev/max", "2"}});
  EXPECT_TRUE(IsIn(job, JobState::kHeld));
  Look();
  Begin();  // the next daemon says the same
  Until("held", [&] { return IsIn(job, JobState::kHeld); });
  EXPECT_EQ(EventsText(),
            "a: annotations: 'allot.dev/min' must be at most 'allot.dev/max', got 4 and 2\n");
}

TEST_F(KubernetesRuntimeTest, AJobThatFitsNowhereIsToldWhyAndWhenThatIsOver) {
  Begin();
  const std::string job = SubmitAndSee("a");
  runtime_->Explain(job, {});
  EXPECT_EQ(EventsText(), "") << "nothing was wrong with it";
  runtime_->Explain(job, JobTrouble{"its 16 GPUs are more than the cluster has, 8"});
  EXPECT_EQ(EventsText(), "a: its 16 GPUs are more than the cluster has, 8\n");
  runtime_->Explain(job, {});
  EXPECT_NE(EventsText().find("a: what was wrong with this job is over\n"), std::string::npos)
      << EventsText();
}

TEST_F(KubernetesRuntimeTest, WhatComesAgainIsShownBehindWhatWasToldSince) {
  constexpr const char* kLongAgo = "2020-01-01T00:00:00Z";
  const auto told = [&](const std::string& reason) {
    Json found;
    server_.ForEach("events", [&](const Json& event) {
      if (event["reason"] == reason) found = event;
    });
    return found;
  };
  const auto let_time_pass = [&] {
    for (const char* reason : {"NotRunning", "Resolved"}) {
      const std::string name = told(reason)["metadata"]["name"];
      server_.Update("events", "default/" + name,
                     [&](Json& event) { event["lastTimestamp"] = kLongAgo; });
    }
  };
  Begin();
  const std::string job = SubmitAndSee("a");
  const JobTrouble trouble = {"its 16 GPUs are more than the cluster has, 8"};
  runtime_->Explain(job, trouble);
  runtime_->Explain(job, {});
  let_time_pass();
  runtime_->Explain(job, trouble);
  EXPECT_EQ(told("NotRunning")["count"], 2);
  EXPECT_GT(told("NotRunning")["lastTimestamp"], kLongAgo);
  EXPECT_EQ(told("Resolved")["lastTimestamp"], kLongAgo);
  let_time_pass();
  runtime_->Explain(job, {});
  EXPECT_EQ(told("Resolved")["count"], 2);
  EXPECT_GT(told("Resolved")["lastTimestamp"], kLongAgo);
  Begin();
  Until("the job", [&] { return FindJob(job) != nullptr; });
  runtime_->Explain(job, trouble);
  EXPECT_EQ(told("NotRunning")["count"], 3) << "the next daemon counts on";
}

TEST_F(KubernetesRuntimeTest, AJobOfTheSameNameHasEventsOfItsOwn) {
  Begin();
  const JobTrouble trouble = {"its 16 GPUs are more than the cluster has, 8"};
  runtime_->Explain(SubmitAndSee("a"), trouble);
  server_.Remove("jobs", "default/a");
  runtime_->Explain(SubmitAndSee("a"), trouble);
  const std::string text = "a: " + trouble.why + "\n";
  EXPECT_EQ(EventsText(), text + text);
}

TEST_F(KubernetesRuntimeTest, AJobWhoseWorkersDoNotJoinIsNotSaidNotToRun) {
  Begin();
  const std::string job = SubmitAndSee("a");
  runtime_->Explain(job,
                    JobTrouble{.why = "one of its workers has not joined", .holds_gpus = true});
  std::string reason;
  server_.ForEach("events", [&](const Json& event) { reason = event["reason"]; });
  EXPECT_EQ(reason, "WorkersNotJoined");
}

// Kubernetes taints a node in trouble, and an autoscaler one that it removes.
TEST_F(KubernetesRuntimeTest, ANodeIsDrainedThatIsCordonedAndDownWithATaint) {
  Begin();
  const auto n1_is = [&](NodeState state) {
    return !seen_.nodes.empty() && seen_.nodes[0].state == state;
  };
  Until("it is up", [&] { return n1_is(NodeState::kUp); });
  const Json pressure = {{"key", "node.kubernetes.io/disk-pressure"}, {"effect", "NoSchedule"}};
  server_.Update("nodes", "n1", [&](Json& node) { node["spec"]["taints"] = {pressure}; });
  Until("it is down", [&] { return n1_is(NodeState::kDown); });
  server_.Update("nodes", "n1", [](Json& node) { node["spec"]["unschedulable"] = true; });
  Until("it is drained", [&] { return n1_is(NodeState::kDrained); });
  SetNode("n1", "Unknown");
  Until("it is down", [&] { return n1_is(NodeState::kDown); });
}

TEST_F(KubernetesRuntimeTest, ANodeThatIsMadeAnewHasWhatItAdvertises) {
  Begin();
  Until("the nodes", [&] { return !seen_.nodes.empty(); });
  const std::string name = seen_.nodes[0].name;
  Json node = server_.Get("nodes", name);
  server_.Remove("nodes", name);
  Until("it is gone", [&] { return seen_.nodes[0].state == NodeState::kDown; });
  node["metadata"].erase("uid");
  node["status"]["allocatable"]["nvidia.com/gpu"] = "2";
  node["metadata"]["labels"]["nvidia.com/gpu.product"] = "h100";
  server_.Create("nodes", node);
  Until("it is up", [&] { return seen_.nodes[0].up(); });
  EXPECT_EQ(seen_.nodes[0].capacity.gpus, 2);
  EXPECT_EQ(seen_.nodes[0].gpu_type, "h100");
}

TEST_F(KubernetesRuntimeTest, AWorkerThatTheSchedulerCannotPlaceWaitsInItsWords) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  SetPod("a-w0",
         {{"phase", "Pending"},
          {"conditions",
           {{{"type", "PodScheduled"},
             {"status", "False"},
             {"reason", "Unschedulable"},
             {"message", "0/3 nodes are available: 1 Insufficient cpu."}}}}},
         "");
  Until("its words", [&] {
    const RuntimeWorker* worker = FindWorker(job + ".0");
    return worker != nullptr && worker->pending && worker->pending->reason == "Unschedulable" &&
           worker->pending->detail == "0/3 nodes are available: 1 Insufficient cpu.";
  });
}

// ---- workers ----

TEST_F(KubernetesRuntimeTest, AnImageThatIsNotThereIsAFailureOfItsWorker) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  server_.Refuse("DELETE", 403, {{"reason", "Forbidden"}, {"message", "no"}}, 2);
  SetPod("a-w0", Json::parse(R"({"phase":"Pending","containerStatuses":[{"state":
      {"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]})"));
  Until("its end", [&] { return HasEnded(job + ".0"); });
  EXPECT_TRUE(FindWorker(job + ".0")->failed);
  EXPECT_EQ(FindWorker(job + ".0")->reason, "ImagePullBackOff: no such image");
  Until("its removal", [&] {
    return server_.Get("pods", "default/a-w0")["metadata"].contains("deletionTimestamp");
  });
}

TEST_F(KubernetesRuntimeTest, AStopThatIsRefusedIsToldAndMayBeRepeated) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  SetPod("a-w0", {{"phase", "Running"}});
  Look();
  server_.Refuse("DELETE", 403, {{"reason", "Forbidden"}, {"message", "a webhook says no"}});
  EXPECT_FALSE(runtime_->Stop(job + ".0", StopMode::kKill).ok());
  EXPECT_NE(EventsText().find("403 Forbidden: a webhook says no"), std::string::npos);
  Until("it is accepted", [&] { return runtime_->Stop(job + ".0", StopMode::kKill).ok(); });
  EXPECT_TRUE(server_.Get("pods", "default/a-w0")["metadata"].contains("deletionTimestamp"));
}

TEST_F(KubernetesRuntimeTest, AWorkerThatSomebodyDeletesHasNotFailed) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  Look();
  server_.Remove("pods", "default/a-w0");
  Until("its end", [&] { return HasEnded(job + ".0"); });
  EXPECT_FALSE(FindWorker(job + ".0")->failed);
  EXPECT_EQ(FindWorker(job + ".0")->reason, "its pod was deleted");
}

TEST_F(KubernetesRuntimeTest, AWorkerThatNoNodeHasYetIsStopped) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  ASSERT_TRUE(runtime_->Stop(job + ".0", StopMode::kKill).ok());
  EXPECT_TRUE(server_.Get("pods", "default/a-w0").is_null());
  Until("its end", [&] { return HasEnded(job + ".0"); });
  EXPECT_FALSE(FindWorker(job + ".0")->failed);
}

TEST_F(KubernetesRuntimeTest, AWorkerOnANodeThatDoesNotAnswerEndsWhenItIsStopped) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  SetPod("a-w0", {{"phase", "Running"}});
  SetNode("n1", "Unknown");
  Until("the node is down", [&] { return !seen_.nodes.empty() && !seen_.nodes[0].up(); });
  EXPECT_FALSE(HasEnded(job + ".0")) << "it may train on: only the kubelet is silent";
  EXPECT_TRUE(runtime_->Stop(job + ".0", StopMode::kKill).ok());
  Until("its end", [&] { return HasEnded(job + ".0"); });
  EXPECT_FALSE(server_.Get("pods", "default/a-w0").is_null())
      << "terminating until the node is back";
  SetNode("n1", "True");
  Until("the node is up", [&] { return seen_.nodes[0].up(); });
  EXPECT_TRUE(HasEnded(job + ".0")) << "judged once";
}

TEST_F(KubernetesRuntimeTest, AWorkerOnANodeThatIsGoneHasFailed) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  Look();
  server_.Remove("nodes", "n1");
  Until("its end", [&] { return HasEnded(job + ".0"); });
  EXPECT_TRUE(FindWorker(job + ".0")->failed);
  EXPECT_EQ(seen_.nodes.size(), 2U) << "a node never leaves";
  EXPECT_FALSE(seen_.nodes[0].up());
}

TEST_F(KubernetesRuntimeTest, NobodyWorksForAnother) {
  Begin();
  const std::string job = SubmitAndSee("a");
  const std::string other = SubmitAndSee("b");
  const Json owner = {{"kind", "Job"},
                      {"uid", server_.Get("jobs", "default/b")["metadata"]["uid"]},
                      {"controller", true}};
  server_.Create("pods", {{"metadata",
                           {{"name", "evil"},
                            {"namespace", "default"},
                            {"labels", {{"allot.dev/job", "a"}}},
                            {"annotations", {{"allot.dev/worker", job + ".0"}}},
                            {"ownerReferences", {owner}}}},
                          {"spec", Json::object()}});
  const std::string last = SubmitAndSee("c");  // seen after the pod
  for (int i = 0; i < 20; ++i) Look();
  EXPECT_TRUE(seen_.workers.empty());
}

// ---- the API server ----

TEST_F(KubernetesRuntimeTest, NothingIsShownWhileTheServerIsGone) {
  Begin();
  const std::string job = SubmitAndSee("a");
  server_.Down();
  Until("the trouble", [&] { return !trouble_.empty(); });
  EXPECT_NE(trouble_.find("no answer from"), std::string::npos) << trouble_;
  server_.Up();
  Until("its end", [&] { return trouble_.empty(); });
  EXPECT_NE(FindJob(job), nullptr);
}

TEST_F(KubernetesRuntimeTest, RightsThatAreRevokedAreNamed) {
  server_.Refuse("GET /apis/batch/v1/jobs", 403,
                 {{"reason", "Forbidden"}, {"message", "jobs.batch is forbidden"}}, 3);
  Begin();
  Until("the trouble", [&] { return trouble_.find("Forbidden") != std::string::npos; });
  EXPECT_EQ(trouble_, "kubernetes: /apis/batch/v1/jobs: 403 Forbidden: jobs.batch is forbidden");
  Until("rights again", [&] { return trouble_.empty(); });
}

TEST_F(KubernetesRuntimeTest, WhoLosesItsLeaseWritesNothingMore) {
  lease_ = "allot/allot";
  Begin();
  const std::string job = SubmitAndSee("a");
  EXPECT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  InstallInterruptHandler();  // the daemon is told to end
  server_.Update("leases", "allot/allot",
                 [](Json& lease) { lease["spec"]["holderIdentity"] = "another"; });
  Until("the daemon is told", [] { return Interrupted(); });
  AcknowledgeInterrupt();
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n1"}, 1)).ok());
  EXPECT_TRUE(server_.Get("pods", "default/a-w1").is_null());
  EXPECT_FALSE(runtime_->Stop(job + ".0", StopMode::kKill).ok());
}

TEST_F(KubernetesRuntimeTest, ADryRunWritesNothing) {
  Begin(true);
  SubmitAndSee("a");
  SubmitAndSee("b", {{"allot.dev/min", "x"}});
  Look();
  for (const char* method : {"POST", "PATCH", "DELETE"}) EXPECT_EQ(server_.Count(method), 0);
}

}  // namespace
}  // namespace allot
