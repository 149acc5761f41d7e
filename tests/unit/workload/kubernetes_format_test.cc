#include <nlohmann/json.hpp>

#include "trace_testing.h"

namespace allot {
namespace {

constexpr const char* kKubeExports = ALLOT_SOURCE_DIR "/tests/data/exports/";

const Job* FindJob(const Workload& workload, const std::string& id) {
  for (const Job& job : workload.jobs) {
    if (job.id == id) return &job;
  }
  return nullptr;
}

TEST(Kubernetes, ReadsJobsWithTheirPods) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(kKubeExports) + "kubernetes.json", "auto", {}, &report);
  EXPECT_EQ(report.format, "kubernetes");
  EXPECT_EQ(report.rows, 11);
  EXPECT_EQ(Drops(report), "4 a pod of a job (counted with it); 1 no GPU requested");
  EXPECT_EQ(Adjustments(report), "1 no pods in the file: waiting for nodes counts as run time");
  ASSERT_EQ(workload.jobs.size(), 6u);
  EXPECT_EQ(workload.origin, "2026-11-02 07:00:00");
  EXPECT_EQ(workload.recorded_until, 5.5 * 3600) << "the last object was created at 12:30";
  const Job* bert = FindJob(workload, "nlp/bert");
  ASSERT_NE(bert, nullptr);
  EXPECT_EQ(bert->gpus, 8);
  EXPECT_EQ(bert->submit, 3600);
  EXPECT_EQ(bert->recorded_wait, 1800);
  EXPECT_EQ(bert->duration, 3 * 3600);
  EXPECT_EQ(bert->outcome, Outcome::kPassed);
  EXPECT_EQ(workload.users[bert->user], "ann");
  EXPECT_EQ(workload.tenants[bert->tenant], "nlp");
  EXPECT_EQ(workload.gpu_types[bert->gpu_types], "nvidia-a100-sxm4-80gb");
  const Job* sweep = FindJob(workload, "vision/sweep");
  ASSERT_NE(sweep, nullptr);
  EXPECT_EQ(sweep->gpus, 4);  // as many at once
  EXPECT_EQ(sweep->user_estimate, 7200);
  EXPECT_EQ(sweep->outcome, Outcome::kFailed);
  EXPECT_LT(sweep->recorded_wait, 0);
  const Job* ddp = FindJob(workload, "nlp/ddp");  // pods of a controller that is not in the file
  ASSERT_NE(ddp, nullptr);
  EXPECT_EQ(ddp->gpus, 4);
  EXPECT_EQ(ddp->duration, 2 * 3600);
  EXPECT_NE(FindJob(workload, "vision/notebook"), nullptr);  // amd.com/gpu
  const Job& late = workload.jobs[4];
  EXPECT_EQ(late.outcome, Outcome::kRunning);
  EXPECT_EQ(late.recorded_wait, 300);
  EXPECT_EQ(workload.RecordedRunTime(late), 25 * 60);
  EXPECT_EQ(workload.jobs[5].outcome, Outcome::kPending);
}

TEST(Kubernetes, ReadsKueueWorkloads) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(kKubeExports) + "kueue.json", "auto", {}, &report);
  EXPECT_EQ(Drops(report), "1 a Kueue Workload of a job (counted with it)");
  ASSERT_EQ(workload.jobs.size(), 3u);
  EXPECT_EQ(workload.jobs[2].outcome, Outcome::kPending);
  const Job& vit = workload.jobs[0];
  EXPECT_EQ(vit.id, "team-a/vit");
  EXPECT_EQ(vit.gpus, 16);
  EXPECT_EQ(vit.recorded_wait, 3600);
  EXPECT_EQ(workload.tenants[vit.tenant], "team-a/prod");
  const Job& rl = workload.jobs[1];
  EXPECT_EQ(rl.id, "team-b/rl");
  EXPECT_EQ(rl.gpus, 4);
  EXPECT_EQ(rl.recorded_wait, 60);
  EXPECT_EQ(rl.outcome, Outcome::kFailed);
  EXPECT_EQ(rl.priority, 100);
}

std::string OneJob(const std::string& gpus, const std::string& created) {
  return R"({"apiVersion": "v1", "kind": "List", "items": [)"
         "\n"
         R"({"kind": "Job", "metadata": {"name": "a", "creationTimestamp": )" +
         created +
         R"(}, "spec": {"template": {"spec": {"containers": [{"resources": {"limits": )"
         R"({"nvidia.com/gpu": )" +
         gpus +
         R"(}}}]}}}, "status": {"startTime": "2026-11-02T08:00:00Z", )"
         R"("completionTime": "2026-11-02T09:00:00+01:00"}}]})";
}

// A Job begins for its controller when its pods are made; it runs when a node has taken one.
TEST(Kubernetes, AJobWaitsWhileItIsSuspendedOrNoNodeTakesItsPods) {
  const std::string spec =
      R"("spec": {"parallelism": PODS, "suspend": SUSPEND, "template": {"spec": {"containers": [{"name": "c",
      "resources": {"limits": {"nvidia.com/gpu": 2}}}]}}})";
  const auto job = [&](const std::string& name, bool suspended, const std::string& labels = "",
                       const char* pods = "1") {
    std::string text = spec;
    text.replace(text.find("PODS"), 4, pods);
    text.replace(text.find("SUSPEND"), 7, suspended ? "true" : "false");
    return R"({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": ")" + name +
           R"(", "namespace": "n", "uid": ")" + name +
           R"(", "creationTimestamp": "2026-10-01T00:00:00Z", "labels": {)" + labels + "}}, " +
           text + R"(, "status": )" +
           (suspended ? "{}" : R"({"startTime": "2026-10-01T00:00:00Z"})") + "}\n";
  };
  const std::string pod =
      R"({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "n", "uid": "p",
      "creationTimestamp": "2026-10-01T00:00:00Z", "ownerReferences": [{"kind": "Job", "name": "a",
      "uid": "a", "controller": true}]}, "spec": {"containers": [{"name": "c", "resources":
      {"limits": {"nvidia.com/gpu": 2}}}]}, "status": {"phase": "Pending"}})";
  ReadReport report;
  const std::string queue = R"("kueue.x-k8s.io/queue-name": "q")";
  const Workload workload = ReadText("kubernetes",
                                     job("a", false) + pod + job("b", true, queue) +
                                         job("c", true) + job("no-pods", false, "", "0"),
                                     false, &report);
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(Drops(report),
            "1 a pod of a job (counted with it); 2 could not start yet: a suspended "
            "Job that is in no queue of Kueue");
  EXPECT_EQ(report.gpus_on_one_node,
            (std::map<std::string, GpuCount, std::less<>>{{"n/a", 2}, {"n/b", 2}}));
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kPending);
  EXPECT_EQ(workload.jobs[1].outcome, Outcome::kPending);
}

TEST(Kubernetes, BadInputNamesRuleValueAndPlace) {
  const std::string time = "\"2026-11-02T07:00:00Z\"";
  ExpectBadData("kubernetes",
                {{"GPUs", OneJob("\"half\"", time), {"GPUs of a container", "half", "t.csv:2"}},
                 {"time", OneJob("1", "\"today\""), {"'creationTimestamp'", "today", "t.csv:2"}},
                 {"no name",
                  R"({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Job"}]})",
                  {"metadata.name", "t.csv:1"}},
                 {"no list", "{\"apiVersion\": 1}", {"a list with items", "kubectl get jobs,pods"}},
                 {"cut short",
                  R"({"apiVersion": "v1", "kind": "List", "items": [{"kind": "Job")",
                  {"a list with items", "kubectl get jobs,pods"}}});
}

TEST(Kubernetes, ARunThatEndsBeforeItStartsIsDropped) {
  ReadReport report;
  ReadText("kubernetes", OneJob("1", "\"2026-11-02T07:00:00Z\""), true, &report);
  EXPECT_EQ(Drops(report), "1 run time is 0 s");  // 09:00+01:00 is 08:00Z
}

// An object of the batch API with a status.
std::string KubeObjectText(const std::string& kind, const std::string& metadata,
                           const std::string& rest) {
  return R"({"apiVersion": "batch/v1", "kind": ")" + kind + R"(", "metadata": {)" + metadata +
         R"(, "namespace": "n", "creationTimestamp": "2026-11-02T08:00:00Z"})" +
         (rest.empty() ? "" : ", " + rest) + "}";
}

std::string ListOf(const std::string& items) {
  return "{\"apiVersion\": \"v1\", \"items\": [\n" + items + "], \"kind\": \"List\"}\n";
}

const std::string kTwoGpus =
    R"("containers": [{"resources": {"limits": {"nvidia.com/gpu": "2"}}}])";
const std::string kSpec = R"("spec": {"template": {"spec": {)" + kTwoGpus + "}}}";
const std::string kRan = R"("status": {"startTime": "2026-11-02T08:10:00Z", )"
                         R"("completionTime": "2026-11-02T09:10:00Z", )"
                         R"("conditions": [{"type": "Complete", "status": "True", )"
                         R"("lastTransitionTime": "2026-11-02T09:10:00Z"}]})";
const std::string kRuns = R"("status": {"startTime": "2026-11-02T08:10:00Z"})";

std::string JobText(const std::string& name, const std::string& uid, const std::string& status) {
  return KubeObjectText("Job", R"("name": ")" + name + R"(", "uid": ")" + uid + "\"",
                        kSpec + ", " + status);
}

TEST(Kubernetes, ReadsListsAndObjectsOneAfterTheOther) {
  ReadReport report;
  const Workload workload =
      ReadText("kubernetes",
               ListOf(JobText("a", "1", kRan)) + ListOf(JobText("b", "2", kRan)) + "\n" +
                   JobText("c", "3", kRan) + "\n" + JobText("d", "4", kRan),
               false, &report);
  EXPECT_EQ(workload.jobs.size(), 4u);
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(workload.jobs[3].line, 7);
}

TEST(Kubernetes, ListsOfTheApiNameTheKindOfTheirItems) {
  const std::string item = R"({"metadata": {"name": "a", "creationTimestamp": )"
                           R"("2026-11-02T08:00:00Z"}, )" +
                           kSpec + ", " + kRan + "}";
  EXPECT_EQ(ReadText("kubernetes",
                     R"({"kind": "JobList", "apiVersion": "batch/v1", "items": [)" + item + "]}")
                .jobs.size(),
            1u);
}

TEST(Kubernetes, BadDocumentsNameTheirLine) {
  const std::string list = ListOf(JobText("a", "1", kRan));
  const std::string deep(200, '[');
  ExpectBadData(
      "kubernetes",
      {{"text after a list", list + "error: timeout", {"a list with items", "'error", "t.csv:3"}},
       {"the second cut short", list + "{\"kind\": \"Job\"", {"a list with items", "t.csv:3"}},
       {"too deep",
        ListOf("{\"kind\": " + deep + std::string(200, ']') + "}"),
        {"deeper than 100", "t.csv:2"}},
       {"too deep, alone",
        "{\"kind\": \"Job\",\n\"metadata\": " + deep + std::string(200, ']') + "}",
        {"deeper than 100", "t.csv:2"}}});
}

TEST(Kubernetes, TheNewestStateOfAnObjectCounts) {
  const std::string versions[] = {R"("name": "a", "uid": "1", "resourceVersion": "90")",
                                  R"("name": "a", "uid": "1", "resourceVersion": "101")"};
  const std::string runs = KubeObjectText("Job", versions[0], kSpec + ", " + kRuns);
  const std::string ended = KubeObjectText("Job", versions[1], kSpec + ", " + kRan);
  for (const std::string& text : {ListOf(runs) + ListOf(ended), ListOf(ended) + ListOf(runs),
                                  ListOf(JobText("a", "1", kRan)) + ListOf(runs)}) {
    ReadReport report;
    EXPECT_EQ(ReadText("kubernetes", text, false, &report).jobs.size(), 1u);
    EXPECT_EQ(Drops(report), "1 an earlier state of an object (the newest counts)");
  }
}

TEST(Kubernetes, ANameThatIsUsedAgainIsAnotherJob) {
  ReadReport report;
  const Workload workload =
      ReadText("kubernetes", ListOf(JobText("a", "1", kRan) + ",\n" + JobText("a", "2", kRan)),
               false, &report);
  ASSERT_EQ(workload.jobs.size(), 2u);
  EXPECT_EQ(workload.jobs[1].id, "n/a#2");
  EXPECT_EQ(Adjustments(report).substr(0, 1), "2");
  EXPECT_NE(Adjustments(report).find("1 a name that was used again"), std::string::npos);
}

std::string Owned(const std::string& name, const std::string& owner_kind,
                  const std::string& owner) {
  return R"("name": ")" + name + R"(", "uid": "uid-)" + name +
         R"(", "ownerReferences": [{"controller": true, "kind": ")" + owner_kind +
         R"(", "name": ")" + owner + R"(", "uid": "uid-)" + owner + "\"}]";
}

const std::string kOfSet =
    KubeObjectText("Job", Owned("set-workers", "JobSet", "set"), kSpec + ", " + kRan) + ",\n" +
    KubeObjectText("Job", Owned("set-leader", "JobSet", "set"), kSpec + ", " + kRan);

TEST(Kubernetes, TheJobsOfAJobSetAreOneJob) {
  ReadReport report;
  const Workload workload = ReadText("kubernetes", ListOf(kOfSet), false, &report);
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].id, "n/set");
  EXPECT_EQ(workload.jobs[0].gpus, 4);
  EXPECT_EQ(workload.jobs[0].duration, 3600);
  EXPECT_EQ(workload.jobs[0].outcome, Outcome::kPassed);
  EXPECT_EQ(Drops(report), "1 a Job of a JobSet or other controller (counted with it)");
}

TEST(Kubernetes, AJobSetThroughKueueCountsOnce) {
  const std::string workload_of_set = KubeObjectText(
      "Workload", Owned("jobset-set-1a", "JobSet", "set"),
      R"("spec": {"podSets": [{"count": 2, "template": {"spec": {)" + kTwoGpus +
          R"(}}}]}, "status": {"conditions": [{"type": "Admitted", "status": "True", )"
          R"("lastTransitionTime": "2026-11-02T08:05:00Z"}, {"type": "Finished", "status": "True", )"
          R"("reason": "Succeeded", "lastTransitionTime": "2026-11-02T09:11:00Z"}]})");
  ReadReport report;
  const Workload workload =
      ReadText("kubernetes", ListOf(kOfSet + ",\n" + workload_of_set), false, &report);
  ASSERT_EQ(workload.jobs.size(), 1u);
  EXPECT_EQ(workload.jobs[0].id, "n/set");
  EXPECT_EQ(workload.jobs[0].gpus, 4);
  EXPECT_EQ(workload.jobs[0].duration, 66 * 60);
  EXPECT_EQ(workload.jobs[0].recorded_wait, 300);
  EXPECT_EQ(Drops(report), "2 a Job of a JobSet or other controller (counted with it)");
}

TEST(Kubernetes, LongDeadlinesAreLimits) {
  const auto limit = [](const std::string& seconds) {
    const std::string spec = R"("spec": {"activeDeadlineSeconds": )" + seconds +
                             R"(, "template": {"spec": {)" + kTwoGpus + "}}}";
    return ReadText("kubernetes",
                    ListOf(KubeObjectText("Job", R"("name": "a")", spec + ", " + kRan)))
        .jobs.at(0)
        .user_estimate;
  };
  EXPECT_EQ(limit("2592000"), 30 * 86400);
  EXPECT_EQ(limit("9223372036854775807"), 0) << "no job lives so long";
}

// As allot makes them (docs/kubernetes.md): the Job's controller is not the built-in one.
std::string WorkerOf(const std::string& job, int number, const std::string& from,
                     const std::string& to) {
  return R"({"kind":"Pod","metadata":{"namespace":"nlp","name":")" + job + "-w" +
         std::to_string(number) + R"(","uid":"p)" + std::to_string(number) +
         R"(","creationTimestamp":"2026-11-02T08:00:00Z","labels":{"allot.dev/job":")" + job +
         R"("},"ownerReferences":[{"kind":"Job","name":")" + job +
         R"(","uid":"u","controller":true}]},)"
         R"("spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},)"
         R"("status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"startedAt":")" +
         from + R"(","finishedAt":")" + to +
         R"("}}}]}})"
         "\n";
}

TEST(Kubernetes, AJobThatAllotResizesIsOneJobOfItsGpuSeconds) {
  const std::string job =
      R"({"kind":"Job","metadata":{"namespace":"nlp","name":"mlp","uid":"u",)"
      R"("creationTimestamp":"2026-11-02T08:00:00Z","annotations":{"allot.dev/min":"1",)"
      R"("allot.dev/max":"8","allot.dev/gpus":"2","allot.dev/model":"resnet50"}},)"
      R"("spec":{"managedBy":"allot.dev/scheduler","template":{"spec":{"containers":)"
      R"([{"resources":{"limits":{"nvidia.com/gpu":"1"}}}]}}},)"
      R"("status":{"startTime":"2026-11-02T08:00:10Z","completionTime":"2026-11-02T08:10:00Z",)"
      R"("conditions":[{"type":"Complete","status":"True",)"
      R"("lastTransitionTime":"2026-11-02T08:10:00Z"}]}})"
      "\n";
  ReadReport report;
  const Workload workload =
      ReadText("kubernetes",
               job + WorkerOf("mlp", 0, "2026-11-02T08:00:00Z", "2026-11-02T08:10:00Z") +
                   WorkerOf("mlp", 1, "2026-11-02T08:00:00Z", "2026-11-02T08:05:00Z") +
                   WorkerOf("mlp", 2, "2026-11-02T08:05:00Z", "2026-11-02T08:10:00Z") +
                   WorkerOf("mlp", 3, "2026-11-02T08:05:00Z", "2026-11-02T08:10:00Z"),
               false, &report);
  ASSERT_EQ(workload.jobs.size(), 1U);
  const Job& mlp = workload.jobs.front();
  EXPECT_EQ(mlp.gpus, 2);
  EXPECT_EQ(mlp.min_gpus, 1);
  EXPECT_EQ(mlp.max_gpus, 8);
  EXPECT_EQ(mlp.duration, (600 + 300 + 300 + 300) / 2);
  EXPECT_EQ(workload.groups[mlp.group], "resnet50");
  EXPECT_EQ(Adjustments(report),
            "1 resized by allot: GPU-seconds of the pods in the file by the GPUs asked for");
}

TEST(Kubernetes, PartsOfGpusAreNoGpus) {
  const auto drops = [](const std::string& resource, const std::string& selector) {
    const std::string spec = R"("spec": {"template": {"spec": {"containers": [{"resources": )"
                             R"({"limits": {")" +
                             resource + R"(": "1"}}}])" + selector + "}}}";
    ReadReport report;
    ReadText("kubernetes", ListOf(KubeObjectText("Job", R"("name": "a")", spec + ", " + kRan)),
             false, &report);
    return Drops(report);
  };
  const std::string parts = "1 parts of GPUs only (MIG, shards, shared GPUs)";
  EXPECT_EQ(drops("nvidia.com/mig-1g.5gb", ""), parts);
  EXPECT_EQ(drops("nvidia.com/gpu.shared", ""), parts);
  EXPECT_EQ(drops("nvidia.com/gpu",
                  R"(, "nodeSelector": {"nvidia.com/gpu.product": "A100-SXM4-40GB-MIG-1g.5gb"})"),
            parts);
  EXPECT_EQ(drops("nvidia.com/gpu", ""), "");
}

}  // namespace
}  // namespace allot
