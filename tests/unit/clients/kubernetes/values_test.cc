#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "clients/kubernetes/gpu_resources.h"
#include "clients/kubernetes/kube_time.h"
#include "clients/kubernetes/pod.h"

namespace allot {
namespace {

using Json = nlohmann::json;

TEST(KubernetesValues, Quantities) {
  const auto quantity = [](const char* text) { return ParseQuantity(Json(text)); };
  EXPECT_EQ(quantity("4"), 4);
  EXPECT_EQ(quantity("500m"), 0.5);
  EXPECT_EQ(quantity("2Gi"), 2147483648.0);
  EXPECT_EQ(quantity("1e3"), 1000);
  EXPECT_EQ(quantity("+4"), 4);
  EXPECT_EQ(quantity("+1e3"), 1000);
  EXPECT_EQ(quantity("2E"), 2e18);
  EXPECT_EQ(quantity("1Ei"), 1152921504606846976.0);
  EXPECT_FALSE(quantity("-4"));
  EXPECT_FALSE(quantity("+-4"));
  EXPECT_FALSE(quantity("++4"));
  EXPECT_FALSE(quantity("+"));
  EXPECT_FALSE(quantity("four"));
  EXPECT_FALSE(quantity(""));
}

TEST(KubernetesValues, Times) {
  EXPECT_EQ(ParseKubernetesTime("1970-01-01T01:00:00.5+01:00"), 0.5);
  EXPECT_FALSE(ParseKubernetesTime("1970-01-01 01:00:00Z"));
  EXPECT_EQ(KubeTimeText(0), "1970-01-01T00:00:00Z");
}

TEST(KubernetesValues, GpusOfPods) {
  const auto container = [](const char* gpus, const char* where = "limits") {
    return Json{{"resources", {{where, {{"nvidia.com/gpu", gpus}}}}}};
  };
  const Json pod = {{"containers", {container("1"), container("2", "requests")}},
                    {"initContainers", {container("2")}}};
  EXPECT_EQ(ReadPodGpus(pod).gpus, 3);
  EXPECT_EQ(ReadPodGpus({{"initContainers", {container("2")}}}).gpus, 2);
  EXPECT_NE(ReadPodGpus({{"containers", {container("0.5")}}}).malformed, "");
  const std::string other = "amd.com/gpu";
  EXPECT_EQ(GpusOfContainer(container("2")), 2);
  EXPECT_EQ(GpusOfContainer(container("2"), {&other, 1}), 0);
  EXPECT_EQ(GpusOfContainer(container("x")), std::nullopt);
}

}  // namespace
}  // namespace allot
