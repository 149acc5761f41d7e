// What 'allot doctor' thinks of the daemon's rights on Kubernetes.

#include "live/runtimes/kubernetes/kubernetes_health.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace allot {
namespace {

using Json = nlohmann::json;

Json NodeNamed(const std::string& name, const char* gpus, const char* type = "a100") {
  return {{"metadata", {{"name", name}, {"labels", {{"nvidia.com/gpu.product", type}}}}},
          {"status", {{"allocatable", {{"nvidia.com/gpu", gpus}}}}}};
}

// Of an API server that refuses "VERB RESOURCE" only; "": nothing.
AskKubernetes Refusing(const std::string& forbidden,
                       const std::vector<Json>& nodes = {NodeNamed("n1", "8")}) {
  return [=](const KubeRequest& request) {
    KubeReply reply;
    reply.code = 200;
    if (request.path == "/api/v1/nodes") {
      reply.body = {{"items", nodes}};
      return reply;
    }
    if (request.path == "/version") {
      reply.body = {{"gitVersion", "v1.33.1"}};
      return reply;
    }
    const nlohmann::json& of = request.body.at("spec").at("resourceAttributes");
    const std::string right =
        of.at("verb").get<std::string>() + " " + of.at("resource").get<std::string>();
    reply.code = 201;
    reply.body = {{"status", {{"allowed", right != forbidden}}}};
    return reply;
  };
}

TEST(KubernetesHealthTest, WhoMayAllIsFine) {
  const auto findings = CheckKubernetes(
      Refusing(""), {.lease = "allot/allot", .reading = {.gpus = {"nvidia.com/gpu"}}});
  ASSERT_EQ(findings.size(), 6U);
  for (const HealthFinding& one : findings) {
    const bool address = one.check == "kubernetes.address";  // nobody serves here
    EXPECT_EQ(one.health, address ? Health::kWarn : Health::kFine) << one.seen;
  }
  EXPECT_EQ(findings[4].seen, "8 nvidia.com/gpu on 1 of 1 nodes");
}

HealthFinding NodesFinding(const std::vector<Json>& nodes) {
  return CheckKubernetes(Refusing("", nodes), {.reading = {.gpus = {"nvidia.com/gpu"}}})[4];
}

TEST(KubernetesHealthTest, NodesThatAdvertiseNoGpuAreNamed) {
  const HealthFinding none = NodesFinding({NodeNamed("n1", "0"), NodeNamed("n2", "0")});
  EXPECT_EQ(none.health, Health::kWrong);
  EXPECT_EQ(none.seen, "0 nvidia.com/gpu on 0 of 2 nodes");
  const HealthFinding one = NodesFinding({NodeNamed("n1", "8"), NodeNamed("n2", "0")});
  EXPECT_EQ(one.health, Health::kWarn);
  EXPECT_NE(one.seen.find("advertise none: n2"), std::string::npos) << one.seen;
}

TEST(KubernetesHealthTest, NodesThatAllKeepWorkersOffAreNamedWithTheirTaints) {
  Json tainted = NodeNamed("n1", "8");
  tainted["spec"]["taints"] = {{{"key", "gpu"}, {"effect", "NoSchedule"}}};
  const HealthFinding found = NodesFinding({tainted});
  EXPECT_EQ(found.health, Health::kWrong);
  EXPECT_NE(found.seen.find("n1 (tainted gpu:NoSchedule)"), std::string::npos) << found.seen;
}

TEST(KubernetesHealthTest, AnAddressThatPodsCannotReachIsNamed) {
  const auto found = [](const std::string& address) {
    return CheckKubernetes(Refusing(""), {.address = address})[5];
  };
  EXPECT_NE(found("tcp:127.0.0.1:7171").seen.find("their own loopback"), std::string::npos);
  const HealthFinding nobody = found("tcp:name.that.is.invalid:7171");
  EXPECT_EQ(nobody.health, Health::kWarn);
  EXPECT_NE(nobody.seen.find("nobody answers at"), std::string::npos) << nobody.seen;
}

TEST(KubernetesHealthTest, ARightThatIsMissingIsNamed) {
  const auto findings = CheckKubernetes(Refusing("delete pods"), {.space = "team"});
  EXPECT_EQ(findings[1].check, "kubernetes.rights");
  EXPECT_EQ(findings[1].health, Health::kWrong);
  EXPECT_EQ(findings[1].seen, "it may not: delete pods");
}

TEST(KubernetesHealthTest, TheLeaseHasRightsOfItsOwn) {
  const auto findings = CheckKubernetes(Refusing("patch leases"), {.lease = "allot/allot"});
  EXPECT_EQ(findings[1].health, Health::kFine);
  EXPECT_EQ(findings[3].seen, "for allot/allot it may not: patch coordination.k8s.io/leases");
}

TEST(KubernetesHealthTest, IdentityNeedsItsRightOnlyWhereItIsAskedFor) {
  for (const auto& [identity, health] : std::map<std::string, Health>{
           {"on", Health::kWrong}, {"auto", Health::kWarn}, {"off", Health::kFine}}) {
    const auto findings = CheckKubernetes(Refusing("create tokenreviews"), {.identity = identity});
    EXPECT_EQ(findings[1].health, Health::kFine) << findings[1].seen;
    EXPECT_EQ(findings[2].check, "kubernetes.identity");
    EXPECT_EQ(findings[2].health, health) << identity;
  }
}

TEST(KubernetesHealthTest, AServerThatKeepsItsVersionIsAskedForTheRest) {
  const auto answers = Refusing("");
  const auto findings = CheckKubernetes(
      [&](const KubeRequest& request) {
        if (request.path != "/version") return answers(request);
        return ReadKubeReply(403, R"({"reason": "Forbidden", "message": "no"})");
      },
      {});
  EXPECT_EQ(findings.size(), 6U);
  EXPECT_EQ(findings[0].health, Health::kFine) << findings[0].seen;
}

TEST(KubernetesHealthTest, WithoutAServerNothingElseIsAsked) {
  int asked = 0;
  const auto findings = CheckKubernetes(
      [&](const KubeRequest&) {
        ++asked;
        return NoKubeReply("connection refused");
      },
      {.lease = "allot/allot"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].health, Health::kWrong);
  EXPECT_NE(findings[0].seen.find("connection refused"), std::string::npos);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace allot
