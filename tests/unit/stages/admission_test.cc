#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "sched/policy.h"
#include "sched/stages.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/sched/world.h"
#include "workload/history_file.h"

namespace allot {
namespace {

using testing_support::World;
using Rows = std::vector<std::int32_t>;

Rows Admit(const World& world, const std::string& spec) {
  Rows rows;
  MakeStage<Admission>("admission", spec)->Admit(world.o, &rows);
  return rows;
}

// Six jobs of 2 GPUs; job 4 runs.
class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() : world_("4x4") {
    for (int job = 0; job < 6; ++job) world_.Add({{1, 2}}, 2);
    world_.Run(4, 1, {{0, 0b0011}});
  }
  World world_;
};

TEST_F(AdmissionTest, AcceptAllAdmitsAll) {
  EXPECT_EQ(Admit(world_, "accept-all"), (Rows{0, 1, 2, 3, 4, 5}));
}

TEST_F(AdmissionTest, QueueLimitCountsWaitingJobsOnly) {
  EXPECT_EQ(Admit(world_, "queue-limit:jobs=2"), (Rows{0, 1, 4}));
  EXPECT_EQ(Admit(world_, "queue-limit:jobs=9"), (Rows{0, 1, 2, 3, 4, 5}));
}

TEST_F(AdmissionTest, WhatIsNotLentNeedsNoCover) {
  EXPECT_EQ(Admit(world_, "covered"), (Rows{0, 1, 2, 3, 4, 5}));
}

TEST_F(AdmissionTest, JobsStartWhileTheirGpusAreGuaranteed) {
  // Two GPUs do 2 a second: job 0 needs 15 minutes, job 1 needs 30, the others nobody knows how
  // long. Job 4 keeps its 2 GPUs.
  world_.o.estimated_work = {1800, 3600, kUnknown, kUnknown, kUnknown, kUnknown};
  world_.o.lent = 8;
  world_.o.guaranteed = {6, 6, 6, 4};
  EXPECT_EQ(Admit(world_, "covered:hours=0.5"), (Rows{0, 1, 4}));
  world_.o.guaranteed = {6, 6, 2, 2};
  EXPECT_EQ(Admit(world_, "covered:hours=0.5"), (Rows{0, 4})) << "the shorter job is covered";
  EXPECT_EQ(Admit(world_, "covered:hours=0.25"), (Rows{0, 1, 4})) << "only a quarter counts";
  world_.o.guaranteed = {0, 0, 0, 0};
  EXPECT_EQ(Admit(world_, "covered"), (Rows{4})) << "what runs is not stopped";
}

TEST_F(AdmissionTest, AQuotaIsATenantsOwn) {
  world_.o.tenant = {0, 0, 1, 0, 1, -1};
  EXPECT_EQ(Admit(world_, "tenant-quota:gpus=4"), (Rows{0, 1, 2, 4, 5}));
}

TEST_F(AdmissionTest, AQuotaIsUsedInOrder) {
  world_.o.tenant = {0, 0, 0, 0, 0, 0};
  EXPECT_EQ(Admit(world_, "tenant-quota:gpus=5"), (Rows{0, 1})) << "nobody passes job 2";
}

TEST_F(AdmissionTest, AJobBeyondTheQuotaEntersAlone) {
  world_.o.tenant = {0, 0, 1, 1, 2, 2};
  EXPECT_EQ(Admit(world_, "tenant-quota:gpus=1"), (Rows{0, 2, 4}));
}

TEST_F(AdmissionTest, JobsOfNoKnownTenantHaveNoQuota) {
  EXPECT_EQ(Admit(world_, "tenant-quota:gpus=1"), (Rows{0, 1, 2, 3, 4, 5}));
}

TEST_F(AdmissionTest, QuotasMayDiffer) {
  world_.o.tenant = {0, 0, 1, 1, 2, 2};
  const testing_support::TempFolder folder;
  const std::string file = (folder / "quotas.csv").string();
  std::ofstream(file) << "tenant,gpus\nlarge,1000\nsmall,1\n";
  const std::vector<std::string> names = {"large", "small", "other"};
  EpisodeContext context;
  context.tenants = &names;
  const auto stage =
      MakeStage<Admission>("admission", "tenant-quota:gpus=1,file=" + file, FileLoader());
  stage->OnEpisodeStart(context);
  Rows rows;
  stage->Admit(world_.o, &rows);
  EXPECT_EQ(rows, (Rows{0, 1, 2, 4}));
  context.tenants = nullptr;
  EXPECT_THROW(stage->OnEpisodeStart(context), Error);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace allot
