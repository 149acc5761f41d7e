#include <nlohmann/json.hpp>

#include "trace_testing.h"
#include "workload/kubernetes_fields.h"

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
  EXPECT_EQ(Drops(report),
            "4 a pod of a job (counted with it); 1 no GPU requested; 1 had not ended when the "
            "trace did; 1 never started");
  EXPECT_EQ(Adjustments(report), "1 no pods in the file: waiting for nodes counts as run time");
  ASSERT_EQ(workload.jobs.size(), 4u);
  EXPECT_EQ(workload.origin, "2026-11-02 07:00:00");
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
}

TEST(Kubernetes, ReadsKueueWorkloads) {
  ReadReport report;
  const Workload workload =
      ReadTrace(std::string(kKubeExports) + "kueue.json", "auto", {}, &report);
  EXPECT_EQ(Drops(report), "1 a Kueue Workload of a job (counted with it); 1 never started");
  ASSERT_EQ(workload.jobs.size(), 2u);
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

TEST(KubernetesFields, Quantities) {
  const auto quantity = [](const char* text) { return ParseQuantity(nlohmann::json(text)); };
  EXPECT_EQ(quantity("4"), 4);
  EXPECT_EQ(quantity("500m"), 0.5);
  EXPECT_EQ(quantity("2Gi"), 2147483648.0);
  EXPECT_EQ(quantity("1e3"), 1000);
  EXPECT_FALSE(quantity("four"));
  EXPECT_FALSE(quantity(""));
  EXPECT_EQ(ParseKubernetesTime("1970-01-01T01:00:00.5+01:00"), 0.5);
  EXPECT_FALSE(ParseKubernetesTime("1970-01-01 01:00:00Z"));
}

}  // namespace
}  // namespace allot
