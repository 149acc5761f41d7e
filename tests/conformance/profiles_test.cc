// What must hold for every registered profile with every registered policy: ordinary jobs, rigid
// and elastic, on one or several GPU types, are decided legally and finish.

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "sim/profile.h"
#include "tests/conformance/random_world.h"
#include "tests/conformance/runnable_specs.h"

namespace allot {
namespace {

using testing_support::kShapes;
using testing_support::RandomWorkload;
using testing_support::ValidityCheck;
using testing_support::WorldShape;

class ProfileConformanceTest : public testing::TestWithParam<std::tuple<std::string, std::string>> {
};

TEST_P(ProfileConformanceTest, OrdinaryJobsFinish) {
  const auto& [profile_id, policy_id] = GetParam();
  const ProfileInfo& profile = Registry<ProfileInfo>::Global().Get("profile", profile_id);
  const testing_support::RunnableSpecs specs;
  for (const WorldShape& shape : kShapes) {
    SimOptions options;
    profile.apply(&options);
    options.seed = 5;
    const Scenario scenario(RandomWorkload(15, 5, 6, shape.elastic),
                            ClusterSpec::Parse(shape.cluster), options);
    ValidityCheck check;
    DecisionListener* const listeners[] = {&check};
    const auto policy = MakePolicy(PolicySpecUnder(profile, specs.Of(policy_id)));
    for (const JobRecord& record : RunPolicy(scenario, *policy, listeners).records) {
      EXPECT_LT(record.finish, kNever) << shape.name << ", job " << record.job;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, ProfileConformanceTest,
                         testing::Combine(testing::ValuesIn(Registry<ProfileInfo>::Global().ids()),
                                          testing::ValuesIn(Registry<PolicyInfo>::Global().ids())),
                         [](const auto& test) {
                           std::string name =
                               std::get<0>(test.param) + "_" + std::get<1>(test.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ProfileTest, PoliciesMeanWhatTheProfileSays) {
  const ProfileInfo& blox = Registry<ProfileInfo>::Global().Get("profile", "blox");
  const std::string las = PolicySpecUnder(blox, "las:admission=load/factor=2");
  EXPECT_NE(las.find("service=seconds"), std::string::npos) << las;
  EXPECT_NE(las.find("admission=load/factor=2"), std::string::npos) << las;
  EXPECT_EQ(PolicySpecUnder(blox, "index:alpha=1"), "index:alpha=1");  // not one of Blox's
}

}  // namespace
}  // namespace allot
