#include <gtest/gtest.h>

#include "core/index.h"
#include "envs/setting.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

std::shared_ptr<const Scenario> Draw(const std::string& plans, const std::string& more = "") {
  return MakeSetting("llm:gpus=64,jobs=60,plans=" + plans + more).episodes(5);
}

// The GPUs of a job's configurations.
std::vector<int> SizesOf(const Scenario& scenario, JobIndex job) {
  std::vector<int> sizes;
  for (const Configuration& c : scenario.facts(job).table->configurations()) {
    if (sizes.empty() || sizes.back() != c.demand.gpus) sizes.push_back(c.demand.gpus);
  }
  return sizes;
}

TEST(LlmSettingTest, JobsAreTheSameWhateverIsKnownOfPlans) {
  const auto aware = Draw("aware");
  for (const char* plans : {"blind", "users"}) {
    const auto other = Draw(plans);
    for (JobIndex job = 0; job < 60; ++job) {
      EXPECT_EQ(other->workload().jobs[At(job)].submit, aware->workload().jobs[At(job)].submit);
      EXPECT_EQ(other->facts(job).work, aware->facts(job).work);
    }
  }
}

TEST(LlmSettingTest, TheBestPlanIsAtLeastAsFastAsTheUsers) {
  const auto aware = Draw("aware");
  const auto users = Draw("users");
  double faster = 0;
  for (JobIndex job = 0; job < 60; ++job) {
    const auto rate = [job](const Scenario& scenario) {
      return (*scenario.facts(job).table)[scenario.facts(job).requested].rate;
    };
    EXPECT_GE(rate(*aware), rate(*users) * (1 - 1e-9)) << "job " << job;
    faster = std::max(faster, rate(*aware) / rate(*users));
  }
  EXPECT_GT(faster, 1.03);
}

TEST(LlmSettingTest, WithoutPlansOnlyReplicasChange) {
  const auto blind = Draw("blind");
  const auto users = Draw("users");
  bool split = false;
  for (JobIndex job = 0; job < 60; ++job) {
    const std::string& profile = blind->facts(job).table->name();
    if (profile.starts_with("llama-13b@")) {  // split over 4 GPUs
      split = true;
      for (const int size : SizesOf(*blind, job)) EXPECT_EQ(size % 4, 0) << profile;
    }
    EXPECT_EQ(SizesOf(*users, job), std::vector<int>{blind->workload().jobs[At(job)].gpus});
  }
  EXPECT_TRUE(split);
}

TEST(LlmSettingTest, CarelessUsersAreSlower) {
  const auto careful = Draw("users");
  const auto careless = Draw("users", ",careless=true");
  double careful_work = 0;
  double careless_work = 0;
  for (JobIndex job = 0; job < 60; ++job) {
    careful_work += careful->facts(job).work;
    careless_work += careless->facts(job).work;
  }
  EXPECT_LT(careless_work, 0.9 * careful_work) << "equal durations at lower speeds";
}

TEST(LlmSettingTest, UnknownValuesAreRefused) {
  ExpectError(ExitCode::kUsage, {"'gpus' must be 64, 256 or 1024, got 128"},
              [] { MakeSetting("llm:gpus=128"); });
  ExpectError(ExitCode::kUsage, {"'plans' must be aware, blind or users, got 'none'"},
              [] { MakeSetting("llm:plans=none"); });
}

}  // namespace
}  // namespace allot
