#include "live/runtimes/slurm/slurm_options.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

SlurmOptions OptionsFrom(const std::map<std::string, std::string>& given, bool standby = false) {
  RuntimeOptions options;
  options.state = "/state";
  options.standby = standby;
  return SlurmOptionsFrom(Params("runtime 'slurm'", SlurmParams(), given), options);
}

std::string RefusalOf(const std::map<std::string, std::string>& given, bool standby = false) {
  return ErrorOf(ExitCode::kUsage, [&] { OptionsFrom(given, standby); });
}

TEST(SlurmOptions, WithoutParametersJobsGoFromElasticToMain) {
  const SlurmOptions options = OptionsFrom({});
  EXPECT_EQ(options.queue, "elastic");
  EXPECT_EQ(options.partition, "main");
  EXPECT_EQ(options.access.api, "auto");
  EXPECT_EQ(options.access.patience, 2);
  EXPECT_FALSE(options.slurm_priority);
  EXPECT_EQ(options.state, "/state/slurm");
}

TEST(SlurmOptions, TheLauncherIsBesideTheProgramUnlessItIsNamed) {
  EXPECT_TRUE(OptionsFrom({}).launcher.ends_with("/allot-elastic"));
  EXPECT_EQ(OptionsFrom({{"launcher", "/opt/allot-elastic"}}).launcher, "/opt/allot-elastic");
}

TEST(SlurmOptions, PrioritiesAreUsersOrSlurms) {
  EXPECT_TRUE(OptionsFrom({{"priority", "slurm"}}).slurm_priority);
  EXPECT_EQ(RefusalOf({{"priority", "mine"}}),
            "slurm: 'priority' must be nice or slurm, got 'mine'");
}

TEST(SlurmOptions, AStandbyIsAmongTheAddressesThatWorkersKnow) {
  EXPECT_NE(RefusalOf({{"address", "a:7171"}}, true).find("must name all machines"),
            std::string::npos);
  EXPECT_EQ(RefusalOf({{"address", "a:7171|b:7171"}}, true), "");
  EXPECT_EQ(RefusalOf({{"address", "a:7171"}}), "");
}

}  // namespace
}  // namespace allot
