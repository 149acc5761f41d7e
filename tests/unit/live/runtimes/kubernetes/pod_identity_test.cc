// Whose a pod's token is, by the API server's word.

#include "live/runtimes/kubernetes/pod_identity.h"

#include <gtest/gtest.h>

#include <string>

namespace allot {
namespace {

using Json = nlohmann::json;

// As the API server of Kubernetes 1.36 answers.
Json Review(const Json& change = Json::object()) {
  Json review = {{"kind", "TokenReview"},
                 {"status",
                  {{"authenticated", true},
                   {"audiences", {"allot"}},
                   {"user",
                    {{"username", "system:serviceaccount:default:default"},
                     {"extra",
                      {{"authentication.kubernetes.io/pod-name", {"el-w0"}},
                       {"authentication.kubernetes.io/pod-uid", {"7"}}}}}}}}};
  review.merge_patch(change);
  return review;
}

TEST(PodIdentity, ATokenOfThePodHolds) { EXPECT_EQ(WhyNotOfPod(Review(), "7"), ""); }

struct Wrong {
  const char* name;
  Json change;
  const char* why;
};
class PodIdentityWrong : public testing::TestWithParam<Wrong> {};

TEST_P(PodIdentityWrong, IsNamed) {
  const std::string why = WhyNotOfPod(Review(GetParam().change), "7");
  EXPECT_NE(why.find(GetParam().why), std::string::npos) << why;
}

const char* const kUid = "authentication.kubernetes.io/pod-uid";
INSTANTIATE_TEST_SUITE_P(
    All, PodIdentityWrong,
    testing::Values(
        Wrong{"expired",
              {{"status", {{"authenticated", nullptr}, {"error", "token has expired"}}}},
              "token has expired"},
        Wrong{"said_false", {{"status", {{"authenticated", false}}}}, "says no more"},
        Wrong{"not_a_truth", {{"status", {{"authenticated", "true"}}}}, "does not hold"},
        Wrong{"no_status", {{"status", nullptr}}, "does not hold"},
        Wrong{"of_the_api", {{"status", {{"audiences", {"https://kubernetes"}}}}}, "audience"},
        Wrong{"server_without_audiences", {{"status", {{"audiences", nullptr}}}}, "audience"},
        Wrong{"of_another_pod",
              {{"status", {{"user", {{"extra", {{kUid, {"8"}}}}}}}}},
              R"(uid 7, it is of ["8"])"},
        Wrong{"of_two", {{"status", {{"user", {{"extra", {{kUid, {"7", "8"}}}}}}}}}, "uid 7"},
        Wrong{"of_no_pod", {{"status", {{"user", {{"extra", {{kUid, nullptr}}}}}}}}, "of none"}),
    [](const auto& wrong) { return std::string(wrong.param.name); });

TEST(PodIdentity, APodWithoutUidIsNobody) {
  const Json none = {{"status", {{"user", {{"extra", {{kUid, {""}}}}}}}}};
  EXPECT_NE(WhyNotOfPod(Review(none), ""), "") << "the worker has no pod";
}

TEST(PodIdentity, TheJobsOwnVolumeOfThatNameIsReplaced) {
  Json spec = {{"volumes", {{{"name", "data"}}, {{"name", "allot-identity"}, {"emptyDir", {}}}}}};
  Json container = {{"volumeMounts", {{{"name", "data"}, {"mountPath", "/data"}}}},
                    {"env", {{{"name", "ALLOT_IDENTITY_FILE"}, {"value", "/mine"}}}}};
  EXPECT_FALSE(HasIdentity({{"spec", {{"volumes", {{{"name", "data"}}}}}}}));
  GiveIdentity(&spec, &container);
  EXPECT_TRUE(HasIdentity({{"spec", spec}}));
  ASSERT_EQ(spec["volumes"].size(), 2U);
  const Json token = spec["volumes"][1]["projected"]["sources"][0]["serviceAccountToken"];
  EXPECT_EQ(token["audience"], "allot");
  ASSERT_EQ(container["volumeMounts"].size(), 2U);
  ASSERT_EQ(container["env"].size(), 1U);
  const std::string file = container["env"][0]["value"];
  const std::string folder = container["volumeMounts"][1]["mountPath"];
  EXPECT_EQ(file, folder + "/" + token["path"].get<std::string>());
}

}  // namespace
}  // namespace allot
