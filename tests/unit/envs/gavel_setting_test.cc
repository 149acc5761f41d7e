#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "envs/setting.h"
#include "perf/gavel_job_types.h"
#include "perf/gavel_pairs.h"
#include "sim/profile.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

std::shared_ptr<const Scenario> DrawGavel(const std::string& params, std::uint64_t seed) {
  return MakeSetting("gavel:" + params).episodes(seed);
}

TEST(GavelSettingTest, JobTypesAreThoseOfTheGenerator) {
  ASSERT_EQ(GavelJobTypes().size(), 26U);
  EXPECT_EQ(GavelJobTypes().front().name, "ResNet-18 (batch size 16)");
  const auto several = std::count_if(GavelJobTypes().begin(), GavelJobTypes().end(),
                                     [](const GavelJobType& type) { return type.several_gpus; });
  EXPECT_EQ(several, 19);
}

// From Gavel's table: 4.39 steps/s of ResNet-50 with 64 images on one V100, 17.30 on eight; with
// 128 it does not fit on two K80.
TEST(GavelSettingTest, RatesAreGavels) {
  const auto model = GavelCatalogue().Get("ResNet-50 (batch size 64)");
  EXPECT_NEAR(model->Rate(UnitCounts{1}, "v100"), 4.39, 0.005);
  EXPECT_NEAR(model->Rate(UnitCounts{8}, "v100"), 17.30, 0.005);
}

// From Gavel's table: A3C beside A3C on a K80, and beside a CycleGAN, which slows down to a third.
TEST(GavelSettingTest, PairsHaveRatesWhereAsked) {
  const auto plain = DrawGavel("jobs=40,batch=true", 1);
  const auto paired = DrawGavel("jobs=40,batch=true,pairs=true", 1);
  std::size_t beside = 0;
  for (JobIndex job = 0; job < 40; ++job) {
    const ConfigurationTable& alone = *plain->facts(job).table;
    const ConfigurationTable& table = *paired->facts(job).table;
    EXPECT_TRUE(alone.partners().empty());
    EXPECT_EQ(plain->facts(job).work, paired->facts(job).work);
    for (const Configuration& c : table.configurations()) {
      const std::int32_t same = alone.Find(c.units, c.gpu_type);
      ASSERT_GE(same, 0);
      if (c.partner == kNoPartner) {
        EXPECT_EQ(c.rate, alone[same].rate);
      } else {
        EXPECT_LE(c.rate, alone[same].rate * (1 + 1e-5));
        ++beside;
      }
    }
  }
  EXPECT_GT(beside, 40U * 20);
  const auto model = GavelPairsCatalogue().Get("A3C");
  const UnitCounts one{1};
  EXPECT_NEAR(model->Rate({"k80", {&one, 1}, "A3C"}, {}), 1.62224, 1e-5);
}

TEST(GavelSettingTest, OneGpuAJobUnlessSeveralAreAskedFor) {
  const auto single = DrawGavel("multi=false", 1);
  for (const Job& job : single->workload().jobs) EXPECT_EQ(job.gpus, 1);
  std::map<GpuCount, int> jobs;
  const auto scenario = DrawGavel("multi=true,jobs=4000,batch=true", 1);
  for (const Job& job : scenario->workload().jobs) ++jobs[job.gpus];
  EXPECT_NEAR(jobs[1], 2800, 150);
  EXPECT_NEAR(jobs[2], 400, 80);
  EXPECT_NEAR(jobs[4], 600, 90);
  EXPECT_NEAR(jobs[8], 200, 60);
}

TEST(GavelSettingTest, ABatchIsAllThereAtTimeZero) {
  const auto scenario = DrawGavel("batch=true,jobs=50", 3);
  ASSERT_EQ(scenario->workload().jobs.size(), 50U);
  EXPECT_EQ(scenario->workload().jobs.back().submit, 0);
}

// The steady state has load x 5.81 jobs/h x 16.8 h in progress, on average, and they have less left
// than new ones take.
TEST(GavelSettingTest, JobsAreInProgressAtTimeZero) {
  double count = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto scenario = DrawGavel("load=0.83,jobs=10", seed);
    for (const Job& job : scenario->workload().jobs) count += job.submit == 0 ? 1 : 0;
  }
  EXPECT_NEAR(count / 20, 1 + 0.83 * 5.81 * 16.8, 8);
}

TEST(GavelSettingTest, DurationsAreThoseOnV100) {
  const auto scenario = DrawGavel("jobs=20", 5);
  for (std::size_t j = 0; j < scenario->workload().jobs.size(); ++j) {
    const Job& job = scenario->workload().jobs[j];
    const Scenario::JobFacts& facts = scenario->facts(static_cast<JobIndex>(j));
    const double rate =
        (*facts.table)[facts.table->Find({static_cast<std::int16_t>(job.gpus)}, 0)].rate;
    EXPECT_NEAR(facts.work / rate, job.duration, 1e-6 * job.duration);
  }
}

TEST(GavelSettingTest, EqualSeedsGiveEqualJobs) {
  const auto one = DrawGavel("multi=true", 7);
  const auto two = DrawGavel("multi=true", 7);
  ASSERT_EQ(one->workload().jobs.size(), two->workload().jobs.size());
  for (std::size_t j = 0; j < one->workload().jobs.size(); ++j) {
    EXPECT_EQ(one->workload().jobs[j].duration, two->workload().jobs[j].duration);
  }
}

TEST(GavelSettingTest, RulesOfGavelsSimulatorKeepTheRestartCost) {
  EXPECT_FALSE(DrawGavel("jobs=5", 1)->options().whole_rounds);
  const auto scenario = DrawGavel("jobs=5,profile=gavel,restart-cost=30", 1);
  EXPECT_TRUE(scenario->options().whole_rounds);
  EXPECT_EQ(scenario->options().restart_cost, 30);
  EXPECT_EQ(scenario->options().lengths.kind, LengthEstimates::Kind::kNone);
}

// Published and repaired policies stand in one table, in which `allot compare` names them.
TEST(GavelSettingTest, PolicyNamesAreGavels) {
  const Setting setting = MakeSetting("gavel");
  const ProfileInfo& names = Registry<ProfileInfo>::Global().Get("profile", setting.profile);
  EXPECT_NE(names.policies.at("fifo_perf").find("leftovers=none"), std::string::npos);
  EXPECT_EQ(names.policies.at("fifo_perf-repaired"), "shared:sharing=fifo-perf");
  EXPECT_FALSE(names.policies.contains("assignment"));  // allot's own
  const std::string compared = "," + ComparedUnder(names) + ",";
  for (const char* policy : {",assignment,", ",fifo_perf,", ",max_sum_throughput_perf-repaired,"}) {
    EXPECT_NE(compared.find(policy), std::string::npos) << policy;
  }
}

TEST(GavelSettingTest, AClusterTooSmallIsAnError) {
  ExpectError(ExitCode::kUsage, {"up to 8 GPUs", "4"},
              [] { MakeSetting("gavel:multi=true,gpus=4"); });
  ExpectError(ExitCode::kUsage, {"multiple of 'per-node' (8)", "36"},
              [] { MakeSetting("gavel:per-node=8"); });
}

}  // namespace
}  // namespace allot
