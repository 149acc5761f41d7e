// Jobs of which allot sets the size only (resize: parallelism), beside a controller of Jobs that
// acts when the test says so.

#include <gtest/gtest.h>

#include "tests/unit/live/runtimes/kubernetes/fake_job_controller.h"
#include "tests/unit/live/runtimes/kubernetes/kubernetes_runtime_fixture.h"

namespace allot {
namespace {

using Json = nlohmann::json;

class CountedJobsTest : public KubernetesRuntimeTest {
 protected:
  CountedJobsTest() : controller_(server_) {}

  // Indexed, completions fixed, waiting for allot.
  std::string SubmitCounted(const std::string& name = "t",
                            const std::function<void(Json&)>& change = {}) {
    const Json notes = {
        {"allot.dev/resize", "parallelism"}, {"allot.dev/max", "4"}, {"allot.dev/types", "v100"}};
    std::string job = Submit(name, notes, [&](Json& object) {
      Json& spec = object["spec"];
      spec.erase("managedBy");
      spec["suspend"] = true;
      spec["completionMode"] = "Indexed";
      spec["completions"] = 4;
      spec["backoffLimit"] = 2;
      spec["successPolicy"] = {{"rules", {{{"succeededCount", 1}}}}};
      spec["template"]["metadata"] = {{"labels", {{"allot.dev/job", name}}}};
      if (change) change(object);
    });
    Until("the job", [&] { return FindJob(job) != nullptr; });
    return job;
  }
  Json SpecOf(const std::string& name = "t") {
    return server_.Get("jobs", "default/" + name)["spec"];
  }
  std::vector<Json> Pods() const {
    std::vector<Json> pods;
    server_.ForEach("pods", [&](const Json& pod) { pods.push_back(pod); });
    return pods;
  }
  // The controller acts, and all pods run on this node.
  void Run(const std::string& node = "n1") {
    controller_.Act();
    for (const Json& pod : Pods()) {
      if (pod["spec"].contains("nodeName")) continue;
      SetPod(pod["metadata"]["name"], {{"phase", "Running"}}, node);
    }
  }
  // Kubelets have ended what is to end.
  void EndDeleted() {
    for (const Json& pod : Pods()) {
      if (!pod["metadata"].contains("deletionTimestamp")) continue;
      server_.Remove("pods", "default/" + pod["metadata"]["name"].get<std::string>());
    }
  }
  int CountOf(WorkerState state) const {
    return static_cast<int>(
        std::count_if(seen_.workers.begin(), seen_.workers.end(),
                      [&](const RuntimeWorker& worker) { return worker.state == state; }));
  }
  void UntilReady(int count) {
    Until("so many workers are ready", [&] {
      return CountOf(WorkerState::kReady) == count &&
             static_cast<int>(seen_.workers.size()) == count;
    });
  }
  // Of so many workers, all of which are ready.
  std::string Train(int count) {
    std::string job = SubmitCounted();
    const std::vector<std::string> nodes(static_cast<std::size_t>(count), "n1");
    EXPECT_TRUE(runtime_->Start(job, Requests(job, nodes)).ok());
    Run();
    UntilReady(count);
    return job;
  }

  FakeJobController controller_;
};

TEST_F(CountedJobsTest, StartsAsManyPodsAsItIsGivenWorkers) {
  Begin();
  const std::string job = SubmitCounted();
  ASSERT_NE(FindJob(job), nullptr);
  EXPECT_EQ(FindJob(job)->state, JobState::kActive) << FindJob(job)->reason;
  EXPECT_EQ(FindJob(job)->mode, ResizeMode::kCount);
  EXPECT_EQ(FindJob(job)->max_gpus, 4);
  const Status done = runtime_->Start(job, Requests(job, {"n1", "n1"}));
  ASSERT_TRUE(done.ok()) << done.message();
  EXPECT_EQ(SpecOf()["parallelism"], 2);
  EXPECT_EQ(SpecOf()["completions"], 4) << "it does not follow";
  EXPECT_EQ(SpecOf()["suspend"], false);
  Look();
  EXPECT_EQ(CountOf(WorkerState::kStarting), 2);
  EXPECT_TRUE(seen_.workers[0].preparing) << "its pod is not there yet";
  Run("n1");
  UntilReady(2);
  EXPECT_EQ(seen_.workers[0].node, "n1");
  EXPECT_EQ(seen_.workers[0].gpus | seen_.workers[1].gpus, 3U) << "a GPU each";
}

TEST_F(CountedJobsTest, WorkersAreWhereTheirPodsReallyAre) {
  Begin();
  const std::string job = SubmitCounted();
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  Look();
  EXPECT_EQ(seen_.workers.at(0).node, "") << "nobody knows yet";
  Run("n2");
  UntilReady(1);
  EXPECT_EQ(seen_.workers[0].node, "n2");
}

TEST_F(CountedJobsTest, GrowsByOnePatchAndShrinksByOne) {
  Begin();
  const std::string job = Train(2);
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1", "n1"}, 2)).ok());
  EXPECT_EQ(SpecOf()["parallelism"], 4);
  Run();
  UntilReady(4);
  const int patches = server_.Count("PATCH");
  // The controller ends the youngest pods, whichever workers were meant.
  EXPECT_TRUE(runtime_->Stop(job + ".0", StopMode::kSave).ok());
  EXPECT_TRUE(runtime_->Stop(job + ".1", StopMode::kSave).ok());
  Until("the patch", [&] { return SpecOf()["parallelism"] == 2; });
  EXPECT_EQ(server_.Count("PATCH"), patches + 1);
  controller_.Act();
  Look();
  EXPECT_EQ(seen_.workers.size(), 4U) << "those that end hold their GPUs";
  EndDeleted();
  bool failed = false;
  Until("their end", [&] {
    for (const RuntimeWorker& worker : seen_.workers) failed = failed || worker.failed;
    return seen_.workers.size() == 2;
  });
  EXPECT_FALSE(failed);
  EXPECT_NE(FindWorker(job + ".2"), nullptr);
}

TEST_F(CountedJobsTest, WithoutWorkersItIsSuspendedAndGoesOnLater) {
  Begin();
  const std::string job = Train(2);
  for (const char* number : {".0", ".1"}) (void)runtime_->Stop(job + number, StopMode::kSave);
  Until("the patch", [&] { return SpecOf()["suspend"] == true; });
  controller_.Act();
  EndDeleted();
  Until("their end", [&] { return seen_.workers.empty(); });
  EXPECT_TRUE(IsIn(job, JobState::kActive)) << "suspended by allot, not by its user";
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 2)).ok());
  EXPECT_EQ(SpecOf()["suspend"], false);
  EXPECT_EQ(SpecOf()["parallelism"], 1);
}

TEST_F(CountedJobsTest, CompletionsFollowWhereTheyWereEqual) {
  Begin();
  const std::string job = SubmitCounted("t", [](Json& object) {
    object["spec"]["parallelism"] = object["spec"]["completions"] = 2;
    object["spec"].erase("successPolicy");
  });
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1", "n1", "n1"})).ok());
  EXPECT_EQ(SpecOf()["completions"], 3);
  EXPECT_EQ(SpecOf()["parallelism"], 3);
}

TEST_F(CountedJobsTest, APodThatIsLostIsReplacedAndItsWorkerStays) {
  Begin();
  const std::string job = Train(2);
  const std::string lost = Pods()[0]["metadata"]["name"];
  SetPod(lost, {{"phase", "Failed"}});
  Until("a worker starts again", [&] { return CountOf(WorkerState::kStarting) == 1; });
  EXPECT_EQ(seen_.workers.size(), 2U);
  Run("n2");
  UntilReady(2);
  EXPECT_EQ(SpecOf()["parallelism"], 2);
}

TEST_F(CountedJobsTest, AJobThatFailsTooOftenHasFailed) {
  Begin();
  const std::string job = Train(2);
  for (int failures = 0; failures < 3; ++failures) {
    for (const Json& pod : Pods()) {
      if (pod["status"]["phase"] == "Running")
        SetPod(pod["metadata"]["name"], {{"phase", "Failed"}});
    }
    Run();
  }
  Until("the end", [&] { return IsIn(job, JobState::kFailed); });
  EXPECT_EQ(FindJob(job)->reason, "BackoffLimitExceeded: the test");
  Until("no worker is left", [&] { return seen_.workers.empty(); });
}

TEST_F(CountedJobsTest, AWorkerThatExitsWithSuccessEndsAJobWithASuccessPolicy) {
  Begin();
  const std::string job = Train(2);
  SetPod(Pods()[0]["metadata"]["name"], {{"phase", "Succeeded"}});
  controller_.Act();
  Until("the end", [&] { return IsIn(job, JobState::kFinished); });
  Until("the other one still runs", [&] { return CountOf(WorkerState::kReady) == 1; });
  controller_.Act();
  EndDeleted();
  Until("no worker is left", [&] { return seen_.workers.empty(); });
}

TEST_F(CountedJobsTest, AJobThatIsDeletedIsCancelled) {
  Begin();
  const std::string job = Train(2);
  server_.Remove("jobs", "default/t");
  // Two watches, of Jobs and of pods, tell it in any order. The pods' kubelets take time.
  Until("the end",
        [&] { return IsIn(job, JobState::kCancelled) && CountOf(WorkerState::kReady) == 2; });
  EndDeleted();
  Until("no worker is left", [&] { return seen_.workers.empty(); });
}

TEST_F(CountedJobsTest, ALaterDaemonFindsTheSameWorkers) {
  Begin();
  const std::string job = Train(3);
  (void)runtime_->Stop(job + ".1", StopMode::kSave);
  Until("the patch", [&] { return SpecOf()["parallelism"] == 2; });
  Begin();
  controller_.Act();
  EndDeleted();
  UntilReady(2);
  EXPECT_NE(FindWorker(job + ".0"), nullptr);
  EXPECT_NE(FindWorker(job + ".2"), nullptr);
  EXPECT_EQ(SpecOf()["parallelism"], 2);
}

TEST_F(CountedJobsTest, AJobThatRunsAlreadyIsTakenAsItIs) {
  Begin();
  const int patches = server_.Count("PATCH");
  const std::string job = SubmitCounted("t", [](Json& object) {
    object["spec"]["suspend"] = false;
    object["spec"]["parallelism"] = 2;
  });
  Run();
  UntilReady(2);
  EXPECT_TRUE(IsIn(job, JobState::kActive));
  EXPECT_EQ(server_.Count("PATCH"), patches);
}

TEST_F(CountedJobsTest, WhatAnotherHasResizedIsLeftAloneUntilItsMarkIsRemoved) {
  Begin();
  const std::string job = Train(2);
  server_.Update("jobs", "default/t", [](Json& object) {
    object["spec"]["parallelism"] = 3;
    object["metadata"]["managedFields"][0]["manager"] = "hpa";
  });
  Until("it is held", [&] { return IsIn(job, JobState::kHeld); });
  EXPECT_NE(EventsText().find("spec.parallelism was set to 2 by allot and is 3 now, by 'hpa'"),
            std::string::npos)
      << EventsText();
  EXPECT_EQ(CountOf(WorkerState::kEnded), 2);
  const int patches = server_.Count("PATCH");
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n1"}, 5)).ok());
  EXPECT_TRUE(runtime_->Stop(job + ".0", StopMode::kSave).ok());
  Run();
  Until("they are no longer listed", [&] { return seen_.workers.empty(); });
  EXPECT_EQ(server_.Count("PATCH"), patches);
  server_.Update("jobs", "default/t", [](Json& object) {
    object["metadata"]["annotations"].erase("allot.dev/workers");
  });
  UntilReady(3);
  EXPECT_TRUE(IsIn(job, JobState::kActive));
}

TEST_F(CountedJobsTest, AWriteOnAnOldVersionIsRepeatedOnlyWhereNobodyElseHasResized) {
  Begin();
  const std::string job = Train(1);
  server_.Refuse("PATCH /apis/batch/v1/namespaces/default/jobs/t", 409,
                 {{"reason", "Conflict"}, {"message", "the object has been modified"}});
  EXPECT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 1)).ok());
  EXPECT_EQ(SpecOf()["parallelism"], 2);
  // Told by no watch before the patch is refused.
  server_.Refuse("PATCH /apis/batch/v1/namespaces/default/jobs/t", 409,
                 {{"reason", "Conflict"}, {"message", "the object has been modified"}});
  server_.Update("jobs", "default/t", [](Json& object) { object["spec"]["parallelism"] = 4; });
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n1"}, 2)).ok());
  EXPECT_EQ(SpecOf()["parallelism"], 4);
}

TEST_F(CountedJobsTest, GrowsNoFurtherWhileASliceOfItIsPending) {
  Begin();
  const std::string job = Train(1);
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 1)).ok());
  controller_.Act();
  std::string gated;
  for (const Json& pod : Pods()) {
    if (!pod["spec"].contains("nodeName")) gated = pod["metadata"]["name"];
  }
  const auto waits = [&] {
    return std::any_of(seen_.workers.begin(), seen_.workers.end(),
                       [](const RuntimeWorker& worker) { return worker.preparing; });
  };
  Until("the pod is known", [&] { return !waits(); });
  server_.Update("pods", "default/" + gated, [](Json& pod) {
    pod["spec"]["schedulingGates"] = {{{"name", "kueue.x-k8s.io/elastic-job"}}};
  });
  Until("the pod waits", waits);
  const Status done = runtime_->Start(job, Requests(job, {"n1"}, 2));
  EXPECT_NE(done.message().find("while 1 of its pods wait for their quota"), std::string::npos)
      << done.message();
  EXPECT_EQ(SpecOf()["parallelism"], 2);
  server_.Update("pods", "default/" + gated,
                 [](Json& pod) { pod["spec"].erase("schedulingGates"); });
  Run();
  UntilReady(2);
  EXPECT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 2)).ok());
}

TEST_F(CountedJobsTest, KueueAloneSuspends) {
  Begin();
  const std::string job = SubmitCounted("t", [](Json& object) {
    object["metadata"]["labels"] = {{"kueue.x-k8s.io/queue-name", "gpus"}};
  });
  EXPECT_TRUE(IsIn(job, JobState::kHeld));
  EXPECT_EQ(FindJob(job)->reason, "Kueue has not admitted it (spec.suspend)");
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  server_.Update("jobs", "default/t", [](Json& object) { object["spec"]["suspend"] = false; });
  Run();
  UntilReady(1);
  (void)runtime_->Stop(job + ".0", StopMode::kSave);
  for (int looks = 0; looks < 20; ++looks) Look();
  EXPECT_EQ(SpecOf()["suspend"], false);
  EXPECT_NE(EventsText().find("is stopped by Kueue alone"), std::string::npos) << EventsText();
}

TEST_F(CountedJobsTest, IsHeldWhileItsUserHasSuspendedIt) {
  Begin();
  const std::string job = Train(2);
  server_.Update("jobs", "default/t", [](Json& object) { object["spec"]["suspend"] = true; });
  Until("held", [&] { return IsIn(job, JobState::kHeld); });
  for (const char* number : {".0", ".1"}) (void)runtime_->Stop(job + number, StopMode::kSave);
  controller_.Act();
  EndDeleted();
  Until("their end", [&] { return seen_.workers.empty(); });
  EXPECT_EQ(SpecOf()["parallelism"], 2) << "nothing is written";
}

// ---- the last pods of a Job ----

class LastPodsTest : public CountedJobsTest {
 protected:
  // Four of its five indexes run.
  std::string TrainFour(const std::function<void(Json&)>& change = {}) {
    std::string job = SubmitCounted("t", [&](Json& object) {
      object["spec"]["completions"] = 5;
      object["spec"].erase("successPolicy");
      if (change) change(object);
    });
    EXPECT_TRUE(runtime_->Start(job, Requests(job, {"n1", "n1", "n1", "n1"})).ok());
    Run();
    UntilReady(4);
    return job;
  }
  // So many of those that run.
  void Succeed(int count) {
    for (const Json& pod : Pods()) {
      if (pod["status"]["phase"] != "Running" || count-- <= 0) continue;
      SetPod(pod["metadata"]["name"], {{"phase", "Succeeded"}});
    }
    Run();
  }
  // No worker fails on the way there.
  void UntilLeft(int count) {
    bool failed = false;
    Until("the rest", [&] {
      for (const RuntimeWorker& worker : seen_.workers) failed = failed || worker.failed;
      return static_cast<int>(seen_.workers.size()) == count &&
             CountOf(WorkerState::kReady) == count;
    });
    EXPECT_FALSE(failed);
  }
};

TEST_F(LastPodsTest, HoldTheirGpusOnly) {
  Begin();
  const std::string job = TrainFour();
  EXPECT_FALSE(FindJob(job)->at_most);
  const int patches = server_.Count("PATCH");
  Succeed(1);
  UntilLeft(4);  // the fifth index has its place
  Succeed(2);
  UntilLeft(2);
  ASSERT_TRUE(FindJob(job)->at_most);
  EXPECT_EQ(FindJob(job)->at_most->gpus, 2);
  Begin();
  UntilLeft(2);
  EXPECT_EQ(server_.Count("PATCH"), patches) << "its controller runs no more by itself";
  (void)runtime_->Stop(seen_.workers[0].id, StopMode::kSave);
  Until("the patch", [&] { return SpecOf()["parallelism"] == 1; });
}

TEST_F(LastPodsTest, AreOfTheJobsNamespace) {
  Begin();
  const std::string job = TrainFour();
  for (const char* name : {"x", "y"}) {
    Json forged = Pods()[0];
    forged["metadata"]["name"] = name;
    forged["metadata"]["namespace"] = "other";
    forged["metadata"].erase("uid");
    server_.Create("pods", forged);
    server_.Update("pods", std::string("other/") + name,
                   [](Json& pod) { pod["status"]["phase"] = "Succeeded"; });
  }
  Succeed(1);
  UntilLeft(4);
  EXPECT_FALSE(FindJob(job)->at_most);
}

TEST_F(LastPodsTest, FinishTheJob) {
  Begin();
  const std::string job = TrainFour();
  Succeed(4);
  UntilLeft(1);
  for (const Json& pod : Pods()) SetPod(pod["metadata"]["name"], {{"phase", "Succeeded"}});
  Until("the end", [&] { return IsIn(job, JobState::kFinished); });
  Until("no worker is left", [&] { return seen_.workers.empty(); });
}

TEST_F(LastPodsTest, AreCountedByTheStatusWhereTheOthersWereRemoved) {
  Begin();
  const std::string job = TrainFour();
  server_.Update("jobs", "default/t", [](Json& object) { object["status"]["succeeded"] = 4; });
  Until("its limit", [&] { return FindJob(job)->at_most.has_value(); });
  EXPECT_EQ(FindJob(job)->at_most->gpus, 1);
  EXPECT_EQ(CountOf(WorkerState::kReady), 4) << "who has a pod stays";
}

TEST_F(LastPodsTest, AreThoseThatRunWhereNoNumberIsWanted) {
  Begin();
  const std::string job = TrainFour([](Json& object) {
    object["spec"].erase("completions"), object["spec"].erase("completionMode");
  });
  for (const Json& pod : Pods()) {
    if (pod["metadata"]["name"] == Pods()[0]["metadata"]["name"])
      SetPod(pod["metadata"]["name"], {{"phase", "Succeeded"}});
  }
  UntilLeft(3);
  EXPECT_EQ(FindJob(job)->at_most->gpus, 3);
}

TEST_F(LastPodsTest, MayBeFewerThanTheLeast) {
  Begin();
  const std::string job =
      TrainFour([](Json& object) { object["metadata"]["annotations"]["allot.dev/min"] = "3"; });
  Succeed(3);
  UntilLeft(2);
  EXPECT_EQ(FindJob(job)->min_gpus, 2);
}

TEST_F(CountedJobsTest, SizesThatAreRefusedAreSentMoreAndMoreRarely) {
  Begin();
  const std::string job = Train(2);
  const int patches = server_.Count("PATCH");
  server_.Refuse("PATCH /apis/batch/v1/namespaces/default/jobs/t", 422,
                 {{"reason", "Invalid"}, {"message", "spec.parallelism: no"}}, 2);
  EXPECT_TRUE(runtime_->Stop(job + ".1", StopMode::kSave).ok());
  for (int polls = 0; polls < 20; ++polls) Look();
  EXPECT_LE(server_.Count("PATCH"), patches + 3) << "of 20 polls";
  EXPECT_EQ(EventsText(), "t: size of job " + job + ": 422 Invalid: spec.parallelism: no\n");
  EXPECT_GT(seen_.refused_writes, 0);
  Until("the patch", [&] { return SpecOf()["parallelism"] == 1; });
}

TEST_F(CountedJobsTest, ADryRunWritesNothing) {
  Begin(true);
  const std::string job =
      SubmitCounted("t", [](Json& object) { object["spec"]["suspend"] = false; });
  Run();
  UntilReady(1);
  for (const char* method : {"POST", "PATCH", "DELETE"}) EXPECT_EQ(server_.Count(method), 0);
}

TEST_F(CountedJobsTest, RulesAreTold) {
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> cases = {
      {[](Json& job) { job["spec"]["managedBy"] = "allot.dev/scheduler"; },
       "spec.managedBy must not be set where 'allot.dev/resize' is parallelism"},
      {[](Json& job) { job["spec"]["template"]["metadata"]["labels"] = Json::object(); },
       "template: its labels must name 'allot.dev/job'"},
      {[](Json& job) { job["metadata"]["annotations"].erase("allot.dev/types"); },
       "'allot.dev/types' must name one type of v100, k80"},
      {[](Json& job) { job["spec"]["completions"] = 3; },
       "spec.completions must be at least 'allot.dev/max' 4, as no more pods than that run, got 3"},
      {[](Json& job) { job["metadata"]["annotations"]["allot.dev/workers"] = "1,x"; },
       "'allot.dev/workers' must be numbers of workers joined by ',', got '1,x'"},
      {[](Json& job) { job["metadata"]["annotations"]["allot.dev/completions"] = "no"; },
       "'allot.dev/completions' must be follow or stay, got 'no'"},
      {[](Json& job) {
         job["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] =
             "2";
       },
       "a pod of a job that is resized by parallelism must ask for 1 nvidia.com/gpu, got 2"}};
  Begin();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const std::string job = SubmitCounted(fmt::format("t{}", c), cases[c].first);
    EXPECT_TRUE(IsIn(job, JobState::kHeld));
    EXPECT_NE(FindJob(job)->reason.find(cases[c].second), std::string::npos)
        << FindJob(job)->reason;
  }
  EXPECT_EQ(server_.Count("PATCH"), 0);
}

}  // namespace
}  // namespace allot
