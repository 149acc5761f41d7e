// What 'allot doctor' thinks of the daemon's rights on Kubernetes.

#include "live/runtimes/kubernetes/kubernetes_health.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace allot {
namespace {

// Of an API server that refuses "VERB RESOURCE" only; "": nothing.
AskKubernetes Refusing(const std::string& forbidden) {
  return [forbidden](const KubeRequest& request) {
    KubeReply reply;
    reply.code = 200;
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
  const auto findings = CheckKubernetes(Refusing(""), {.lease = "allot/allot"});
  ASSERT_EQ(findings.size(), 4U);
  for (const HealthFinding& one : findings) EXPECT_EQ(one.health, Health::kFine) << one.seen;
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
