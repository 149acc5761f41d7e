// What users and administrators get wrong: each is told by its rule, in an event of the Job or,
// where no Job is concerned, as the daemon's trouble; and the daemon goes on.

#include <gtest/gtest.h>

#include "tests/unit/live/hub_peer.h"
#include "tests/unit/live/runtimes/kubernetes/kubernetes_runtime_fixture.h"

namespace allot {
namespace {

using Json = nlohmann::json;

Json& GpuLimits(Json& job) {
  return job["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"];
}

struct WrongJob {
  const char* what;
  Json annotations;
  void (*change)(Json&);
  const char* told;
};

class BadJob : public KubernetesRuntimeTest, public testing::WithParamInterface<WrongJob> {};

TEST_P(BadJob, IsToldItsRuleAndHoldsNobodyUp) {
  Begin();
  const std::string bad = SubmitAndSee("bad", GetParam().annotations, GetParam().change);
  EXPECT_TRUE(IsIn(bad, JobState::kHeld));
  EXPECT_NE(EventsText().find("bad: " + std::string(GetParam().told)), std::string::npos)
      << EventsText();
  EXPECT_FALSE(runtime_->Start(bad, Requests(bad, {"n1"})).ok());
  const std::string good = SubmitAndSee("good");
  EXPECT_TRUE(runtime_->Start(good, Requests(good, {"n1"})).ok());
  EXPECT_EQ(EventsText().find("good"), std::string::npos);
}

void Nothing(Json&) {}

INSTANTIATE_TEST_SUITE_P(
    All, BadJob,
    testing::Values(
        WrongJob{"NoNumber",
                 {{"allot.dev/max", "many"}},
                 Nothing,
                 "annotations: 'allot.dev/max' must be a whole number of GPUs from 1 to 65536, got "
                 "'many'"},
        WrongJob{"MinAboveMax",
                 {{"allot.dev/min", "4"}, {"allot.dev/max", "2"}},
                 Nothing,
                 "annotations: 'allot.dev/min' must be at most 'allot.dev/max', got 4 and 2"},
        WrongJob{"UnknownKey",
                 {{"allot.dev/maximum", "2"}},
                 Nothing,
                 "annotations: unknown key 'allot.dev/maximum'"},
        WrongJob{"WithoutGpus",
                 {{"allot.dev/max", "2"}},
                 [](Json& job) { GpuLimits(job).erase("nvidia.com/gpu"); },
                 "template: exactly one container must ask for GPUs (limits: nvidia.com/gpu), got "
                 "0"},
        WrongJob{"OwnNode",
                 {{"allot.dev/max", "2"}},
                 [](Json& job) { job["spec"]["template"]["spec"]["nodeName"] = "n2"; },
                 "template: 'nodeName' must not be set"},
        WrongJob{"WithoutEnd", Json::object(),
                 [](Json& job) { job["spec"]["parallelism"] = 2'000'000'000; },
                 "template: GPUs x parallelism must be a whole number of at most 65536, got 1 x "
                 "2000000000"}),
    [](const auto& one) { return std::string(one.param.what); });

TEST_F(KubernetesRuntimeTest, AnImageThatIsNotThereIsToldOnce) {
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1", "n2"})).ok());
  for (const char* pod : {"a-w0", "a-w1"}) {
    SetPod(pod, Json::parse(R"({"phase":"Pending","containerStatuses":[{"state":
        {"waiting":{"reason":"InvalidImageName","message":"no such image"}}}]})"));
  }
  Until("their ends", [&] { return HasEnded(job + ".0") && HasEnded(job + ".1"); });
  EXPECT_EQ(EventsText(), "a: a worker cannot be started: InvalidImageName: no such image\n");
}

TEST_F(KubernetesRuntimeTest, RightsToStartThatAreRevokedAreToldToTheUserUntilTheyAreBack) {
  Begin();
  const std::string job = SubmitAndSee("a");
  server_.Refuse("POST /api/v1/namespaces/default/pods", 403,
                 {{"reason", "Forbidden"}, {"message", "allot cannot create pods"}});
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  EXPECT_NE(EventsText().find("403 Forbidden: allot cannot create pods"), std::string::npos);
  EXPECT_TRUE(runtime_->Start(job, Requests(job, {"n1"}, 1)).ok());
}

TEST_F(KubernetesRuntimeTest, AnEventThatIsRefusedHoldsNobodyUp) {
  server_.Refuse("POST /api/v1/namespaces/default/events", 403,
                 {{"reason", "Forbidden"}, {"message", "no events"}}, 1000);
  Begin();
  const std::string bad = SubmitAndSee("bad", {{"allot.dev/min", "x"}});
  EXPECT_TRUE(IsIn(bad, JobState::kHeld));
  const std::string good = SubmitAndSee("good");
  EXPECT_TRUE(runtime_->Start(good, Requests(good, {"n1"})).ok());
}

TEST_F(KubernetesRuntimeTest, ATokenThatHasExpiredIsNamedAndTheNextOneOfItsFileIsTaken) {
  token_file_ = state_ / "token";
  WriteTextFile(token_file_, "first\n");
  server_.Expect("first");
  Begin();
  const std::string job = SubmitAndSee("a");
  server_.Expect("second");
  server_.CutWatches(false);
  Until("the trouble", [&] { return trouble_.find("401 Unauthorized") != std::string::npos; });
  const auto written = std::filesystem::last_write_time(token_file_);
  WriteTextFile(token_file_, "second\n");
  std::filesystem::last_write_time(token_file_, written);  // a 401 is reason enough
  Until("its end", [&] { return trouble_.empty(); });
  EXPECT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
}

// Whatever the daemon does: the suite of tests shows that no right is missing, this one that none
// is too much.
TEST_F(KubernetesRuntimeTest, EveryRightIsNeeded) {
  lease_ = "allot/allot";
  Begin();
  const std::string job = SubmitAndSee("a");
  ASSERT_TRUE(runtime_->Start(job, Requests(job, {"n1"})).ok());
  server_.Create("pods", {{"metadata", {{"name", "a-w1"}, {"namespace", "default"}}},
                          {"spec", Json::object()}});
  EXPECT_FALSE(runtime_->Start(job, Requests(job, {"n2"}, 1)).ok()) << "it asks whose pod that is";
  testing_support::HubPeer worker(PortOfWorkers(), job);
  worker.Join(runtime_.get(), job + ".0", {{"identity", "whose?"}}, TokenOfJob());
  EXPECT_TRUE(worker.Hear(runtime_.get()).is_null()) << "it asks whose token that is";
  const JobTrouble trouble{.why = "too large"};
  runtime_->Explain(job, trouble);
  runtime_->Explain(job, std::nullopt);
  runtime_->Explain(job, trouble);
  EXPECT_TRUE(runtime_->Stop(job + ".0", StopMode::kKill).ok());
  EXPECT_TRUE(runtime_->Cancel(job).ok());
  const Json notes = {{"allot.dev/resize", "parallelism"}, {"allot.dev/types", "v100"}};
  const std::string counted = SubmitAndSee("t", notes, [](Json& object) {
    object["spec"].erase("managedBy");
    object["spec"]["suspend"] = true;
    object["spec"]["template"]["metadata"]["labels"]["allot.dev/job"] = "t";
  });
  server_.Refuse("PATCH /apis/batch/v1/namespaces/default/jobs/t", 409, {{"reason", "Conflict"}});
  EXPECT_TRUE(runtime_->Start(counted, Requests(counted, {"n1"})).ok()) << "it looks, and repeats";
  Until("the watches", [&] { return server_.Count("?watch") >= 3; });
  Until("the lease", [&] { return server_.Count("PATCH /apis/coordination.k8s.io") > 0; });
  // Which admission asks for, of who makes objects that block the deletion of their owner.
  EXPECT_EQ(server_.UnusedRights(), std::vector<std::string>{"update jobs/finalizers"});
}

}  // namespace
}  // namespace allot
