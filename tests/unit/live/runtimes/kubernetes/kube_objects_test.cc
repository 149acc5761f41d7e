// What is read from objects that a real API server gave, and what is written for it.

#include "live/runtimes/kubernetes/kube_objects.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "live/runtimes/kubernetes/job_status.h"
#include "live/runtimes/kubernetes/managed_request.h"
#include "live/runtimes/kubernetes/worker_spec.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/live/runtimes/kubernetes/fake_objects.h"

namespace allot {
namespace {

using Json = nlohmann::json;
using namespace nlohmann::literals;

Json RecordedList(const char* name) {
  return Json::parse(ReadTextFile(ALLOT_TEST_DATA "/kubernetes/" + std::string(name) + ".json"))
      .at("items");
}

constexpr const char* kNow = "2026-11-23T00:00:00Z";

// ---- jobs ----

ManagedJob RecordedJob(const Json& annotations = {}, const Json& status = Json::object()) {
  Json job = RecordedList("jobs")[0];
  job["metadata"]["annotations"] = annotations;
  job["status"] = status;
  return *ReadManagedJob(job);
}

TEST(ManagedJobs, OfARealServerAreRead) {
  const ManagedJob job = RecordedJob({{"allot.dev/max", "4"}, {"other.io/x", "1"}});
  EXPECT_EQ(NameOfManagedJob(job), "default.el.99f3c34f");
  EXPECT_EQ(job.created, 1795351315);
  EXPECT_EQ(job.options, (std::map<std::string, std::string>{{"max", "4"}}));
  EXPECT_FALSE(job.suspended);
  EXPECT_FALSE(EndIn(job));
}

TEST(ManagedJobs, OfOtherControllersAreNotOurs) {
  Json job = RecordedList("jobs")[0];
  job["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue";
  EXPECT_FALSE(ReadManagedJob(job));
  job["spec"].erase("managedBy");
  EXPECT_FALSE(ReadManagedJob(job));
}

RuntimeJob RequestOf(const ManagedJob& job) {
  RuntimeJob request;
  ReadManagedRequest(job, "nvidia.com/gpu", &request);
  return request;
}

std::string RequestError(const ManagedJob& job) {
  return ErrorOf(ExitCode::kBadData, [&] { RequestOf(job); });
}

TEST(ManagedJobs, AskByTheirAnnotations) {
  const RuntimeJob job = RequestOf(RecordedJob({{"allot.dev/min", "2"},
                                                {"allot.dev/max", "8"},
                                                {"allot.dev/types", "a100|v100"},
                                                {"allot.dev/model", "resnet50"},
                                                {"allot.dev/priority", "-3"},
                                                {"allot.dev/work", "1e6"}}));
  EXPECT_EQ(job.min_gpus, 2);
  EXPECT_EQ(job.requested, 2);
  EXPECT_EQ(job.max_gpus, 8);
  EXPECT_EQ(job.gpu_types, "a100|v100");
  EXPECT_EQ(job.model, "resnet50");
  EXPECT_EQ(job.priority, -3);
  EXPECT_EQ(job.total_work, 1e6);
  EXPECT_EQ(job.mode, ResizeMode::kHot);
}

TEST(ManagedJobs, WithoutAnnotationsHaveOneSize) {
  Json job = RecordedList("jobs")[0];
  job["spec"]["parallelism"] = 3;
  job["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "2";
  const RuntimeJob request = RequestOf(*ReadManagedJob(job));
  EXPECT_EQ(request.mode, ResizeMode::kRestart);
  EXPECT_EQ(request.min_gpus, 6);
  EXPECT_EQ(request.max_gpus, 6);
}

TEST(ManagedJobs, ThatAskForWhatCannotBeAreRefusedByRuleAndValue) {
  EXPECT_EQ(RequestError(RecordedJob({{"allot.dev/min", "4"}, {"allot.dev/max", "2"}})),
            "annotations: 'allot.dev/min' must be at most 'allot.dev/max', got 4 and 2");
  EXPECT_EQ(RequestError(RecordedJob({{"allot.dev/min", "many"}})),
            "annotations: 'allot.dev/min' must be a whole number of GPUs from 1 to 65536, got "
            "'many'");
  EXPECT_EQ(RequestError(RecordedJob({{"allot.dev/mim", "1"}})),
            "annotations: unknown key 'allot.dev/mim' (did you mean 'min'?)");
  EXPECT_EQ(RequestError(RecordedJob({{"allot.dev/priority", "high"}})),
            "annotations: 'allot.dev/priority' must be a number, got 'high'");
}

TEST(ManagedJobs, WithATemplateThatCannotBeAreRefused) {
  const auto error_with = [](const std::string& where, const Json& value) {
    Json job = RecordedList("jobs")[0];
    job["metadata"]["annotations"] = {{"allot.dev/max", "4"}};
    job["spec"]["template"]["spec"][Json::json_pointer(where)] = value;
    return RequestError(*ReadManagedJob(job));
  };
  EXPECT_EQ(error_with("/containers/0/resources", Json::object()),
            "template: exactly one container must ask for GPUs (limits: nvidia.com/gpu), got 0");
  EXPECT_EQ(error_with("/containers/0/resources/limits/nvidia.com~1gpu", "2"),
            "template: a worker of a job that is resized while it trains must ask for 1 "
            "nvidia.com/gpu, got 2");
  EXPECT_NE(error_with("/nodeSelector", {{"a", "b"}}).find("'nodeSelector' must not be set"),
            std::string::npos);
  EXPECT_NE(error_with("/affinity", {{"nodeAffinity", {{"x", 1}}}}).find("'nodeAffinity' must not"),
            std::string::npos);
}

// ---- the end of jobs: as patches, under the rules of the API ----

// The Job after as many patches as it needs; the rules throw.
ManagedJob Ended(JobEnd end, const std::vector<int>& actives) {
  Json job = RecordedList("jobs")[0];
  for (const int active : actives) {
    const auto patch = StatusPatch(*ReadManagedJob(job), end, active, 0, kNow);
    if (!patch) continue;
    const Json before = job;
    job.merge_patch(*patch);
    try {
      CheckJobStatus(before, job);
    } catch (const FakeRefusal& refusal) {
      ADD_FAILURE() << refusal.message << patch->dump();
    }
  }
  return *ReadManagedJob(job);
}

TEST(JobStatus, AJobIsDoneOnceNoPodIsActive) {
  const JobEnd end{JobState::kFinished, ""};
  const ManagedJob waits = Ended(end, {2, 2, 1});
  EXPECT_EQ(EndIn(waits)->state, JobState::kFinished);
  EXPECT_FALSE(IsClosed(waits));
  const ManagedJob done = Ended(end, {2, 1, 0, 0});
  EXPECT_TRUE(IsClosed(done));
  EXPECT_NE(done.Condition("Complete"), nullptr);
}

TEST(JobStatus, AJobThatNeverBeganCanFail) {
  const ManagedJob failed = Ended({JobState::kFailed, "its image is not there"}, {0, 0});
  EXPECT_TRUE(IsClosed(failed));
  EXPECT_EQ(EndIn(failed)->state, JobState::kFailed);
  EXPECT_EQ(EndIn(failed)->reason, "its image is not there");
}

TEST(JobStatus, ACancelledJobIsKnownAsSuchLater) {
  EXPECT_EQ(EndIn(Ended({JobState::kCancelled, "by x"}, {0, 0}))->state, JobState::kCancelled);
}

TEST(JobStatus, CountsAreWrittenWhenTheyChangeOnly) {
  const Json status = {{"active", 2}, {"ready", 1}, {"startTime", kNow}};
  EXPECT_FALSE(StatusPatch(RecordedJob({}, status), std::nullopt, 2, 1, kNow));
  EXPECT_EQ(*StatusPatch(RecordedJob({}, status), std::nullopt, 2, 2, kNow),
            Json::parse(R"({"status":{"ready":2}})"));
  EXPECT_EQ(*StatusPatch(RecordedJob(), std::nullopt, 1, 0, kNow),
            (Json{{"status", {{"startTime", kNow}, {"active", 1}}}}));
}

// ---- pods ----

TEST(WorkerPods, OfARealServerThatAreNotOursAreLeftOut) {
  for (Json pod : RecordedList("pods")) {
    pod["metadata"]["labels"] = {{"app", "another"}};
    EXPECT_FALSE(ReadWorkerPod(pod));
  }
}

TEST(WorkerPods, OfACountedJobHaveNoWorkersNameAndAreWhereTheyRun) {
  Json pod = RecordedList("pods")[0];
  pod["metadata"]["labels"]["allot.dev/job"] = "el";
  pod["spec"]["nodeName"] = "n3";
  const auto read = ReadWorkerPod(pod);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->worker, "");
  EXPECT_EQ(read->node, "n3");
  EXPECT_FALSE(read->gated);
}

TEST(WorkerPods, AreReadAsTheyWereWritten) {
  const WorkerRequest request{"default.el.99f3c34f.7", "n2", 0b1010};
  const ManagedJob job = RecordedJob();
  Json pod = MakeWorkerPod(job, {.request = request,
                                 .job = "default.el.99f3c34f",
                                 .gpu = "nvidia.com/gpu",
                                 .gpu_type = "k80",
                                 .daemon = "tcp:allot:7171",
                                 .secret = "el-allot-1",
                                 .tolerated = {"gpu"}});
  pod["metadata"]["uid"] = "u";
  pod["metadata"]["resourceVersion"] = "1";
  const auto read = ReadWorkerPod(pod);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "el-w7");
  EXPECT_EQ(read->job_uid, job.uid);
  EXPECT_EQ(read->worker, request.worker);
  EXPECT_EQ(read->node, "n2");
  EXPECT_EQ(read->gpus, request.gpus);
  EXPECT_EQ(read->team, "");
  const Json& spec = pod["spec"];
  EXPECT_EQ(spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"], "2");
  EXPECT_EQ(spec["containers"][0]["resources"]["limits"]["cpu"], "1") << "the template's stay";
  EXPECT_EQ(spec["restartPolicy"], "Never");
  EXPECT_EQ(spec["tolerations"][0]["key"], "gpu");
  EXPECT_EQ(spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"],
            Json::parse(R"({"nodeSelectorTerms":[{"matchFields":[
                {"key":"metadata.name","operator":"In","values":["n2"]}]}]})"));
}

TEST(WorkerPods, HaveTheWorkersEnvironmentAndTheTemplatesFolder) {
  Json job = RecordedList("jobs")[0];
  job["spec"]["template"]["spec"]["containers"][0]["env"] = {
      {{"name", "ALLOT_RUN_DIR"}, {"value", "/data"}},
      {{"name", "ALLOT_TOKEN"}, {"value", "mine"}},
      {{"name", "LR"}, {"value", "0.1"}}};
  const WorkerRequest request{"j.0", "n1", 1};
  const Json pod = MakeWorkerPod(*ReadManagedJob(job), {.request = request,
                                                        .job = "j",
                                                        .gpu = "nvidia.com/gpu",
                                                        .gpu_type = "v100",
                                                        .daemon = "tcp:allot:7171",
                                                        .secret = "el-allot-1"});
  std::map<std::string, std::string> variables;
  for (const Json& one : pod["spec"]["containers"][0]["env"]) {
    EXPECT_FALSE(variables.contains(one["name"])) << one["name"];
    variables[one["name"]] = one.value("value", one.value("valueFrom", Json()).dump());
  }
  EXPECT_EQ(variables["LR"], "0.1");
  EXPECT_EQ(variables["ALLOT_RUN_DIR"], "/data");
  EXPECT_EQ(variables["ALLOT_DAEMON"], "tcp:allot:7171");
  EXPECT_EQ(variables["ALLOT_WORKER_ID"], "j.0");
  EXPECT_EQ(variables["ALLOT_GPU_TYPE"], "v100");
  EXPECT_EQ(variables["ALLOT_TOKEN"], R"({"secretKeyRef":{"key":"token","name":"el-allot-1"}})");
}

TEST(WorkerPods, SayWhyTheyEndedOrCannotBegin) {
  const auto read = [](const char* status) {
    Json pod = RecordedList("pods")[0];
    pod["metadata"]["annotations"] = {{"allot.dev/worker", "j.0"}};
    pod["status"] = Json::parse(status);
    return *ReadWorkerPod(pod);
  };
  const WorkerPod killed = read(R"({"phase":"Failed","containerStatuses":[{"state":
      {"terminated":{"exitCode":137,"reason":"OOMKilled"}}}]})");
  EXPECT_TRUE(killed.ended());
  EXPECT_EQ(killed.reason, "exit code 137 (OOMKilled)");
  EXPECT_EQ(
      read(R"({"phase":"Failed","reason":"UnexpectedAdmissionError","message":"full"})").reason,
      "UnexpectedAdmissionError: full");
  const WorkerPod stuck = read(R"({"phase":"Pending","containerStatuses":[{"state":
      {"waiting":{"reason":"ImagePullBackOff","message":"no such image"}}}]})");
  EXPECT_TRUE(stuck.stuck);
  EXPECT_EQ(stuck.reason, "ImagePullBackOff: no such image");
  const auto waiting = [&](const std::string& reason) {
    return read((R"({"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":")" +
                 reason + R"("}}}]})")
                    .c_str());
  };
  EXPECT_FALSE(waiting("ContainerCreating").stuck);
  EXPECT_TRUE(waiting("ContainerCreating").preparing);
  EXPECT_FALSE(waiting("CreateContainerConfigError").preparing) << "it may wait for ever";
}

TEST(WorkerPods, WithoutANodeSayWhatTheSchedulerSays) {
  Json pod = RecordedList("pods")[0];
  pod["metadata"]["annotations"] = {{"allot.dev/worker", "j.0"}};
  pod["spec"].erase("nodeName");
  pod["status"] = {{"phase", "Pending"}};
  EXPECT_EQ(ReadWorkerPod(pod)->pending, PendingStart{});
  pod["status"]["conditions"] = {
      {{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}};
  EXPECT_EQ(ReadWorkerPod(pod)->pending->reason, "Unschedulable");
  pod["status"]["conditions"][0]["message"] =
      "0/4 nodes are available: 1 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available";
  EXPECT_EQ(ReadWorkerPod(pod)->pending->reason, "Unschedulable") << "a word, whatever the numbers";
  EXPECT_EQ(ReadWorkerPod(pod)->pending->detail,
            "0/4 nodes are available: 1 Insufficient nvidia.com/gpu.");
  pod["spec"]["nodeName"] = "n1";
  EXPECT_FALSE(ReadWorkerPod(pod)->pending);
}

}  // namespace
}  // namespace allot
