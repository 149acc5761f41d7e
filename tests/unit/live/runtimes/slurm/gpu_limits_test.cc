#include "live/runtimes/slurm/gpu_limits.h"

#include <gtest/gtest.h>

#include "clients/slurm/slurm_text.h"
#include "core/index.h"
#include "live/runtimes/slurm/slurm_tags.h"

namespace allot {
namespace {

class GpuLimitsTest : public testing::Test {
 protected:
  // "NAME: GPUs" of each limit of the job.
  std::vector<std::string> Of(const std::string& account, const std::string& qos = "normal",
                              const std::string& user = "ada") {
    SlurmJob job;
    job.account = account;
    job.qos = qos;
    job.user = user;
    GpuLimits limits("main");
    limits.Read(snapshot_);
    limits.Limit(job, &job_);
    std::vector<std::string> text;
    for (const std::int32_t one : job_.limited_by) {
      const SharedLimit& limit = limits.shared()[At(one)];
      text.push_back(fmt::format("{}: {}", limit.name, limit.gpus));
    }
    return text;
  }
  SlurmSnapshot snapshot_;
  RuntimeJob job_;
};

using Texts = std::vector<std::string>;

TEST_F(GpuLimitsTest, OfAnAccountAndTheOnesAboveIt) {
  snapshot_.limits.associations = {{"root", "", "", "", {}, {}},
                                   {"vision", "", "", "root", 8, 4},
                                   {"robots", "", "", "vision", 6, {}},
                                   {"robots", "ada", "", "", 2, {}},
                                   {"robots", "ada", "other", "", 1, 1}};
  EXPECT_EQ(Of("robots"), (Texts{"user ada of account robots (GrpTRES): 2",
                                 "account robots (GrpTRES): 6", "account vision (GrpTRES): 8"}));
  EXPECT_EQ(job_.at_most, (GpuLimit{4, "MaxTRESPerJob of account vision"}));
  EXPECT_EQ(Of("vision"), Texts{"account vision (GrpTRES): 8"});
  EXPECT_EQ(Of("speech"), Texts());
  EXPECT_FALSE(job_.at_most);
}

TEST_F(GpuLimitsTest, WhatAQosLimitsAssociationsDoNot) {
  snapshot_.limits.associations = {{"vision", "", "", "", 8, 4}};
  snapshot_.limits.qos = {{"normal", {}, {}, {}, {}}, {"short", 16, 3, 5, 2}};
  EXPECT_EQ(Of("vision"), Texts{"account vision (GrpTRES): 8"});
  EXPECT_EQ(Of("vision", "short"),
            (Texts{"QOS short (GrpTRES): 16", "user ada in QOS short (MaxTRESPerUser): 3",
                   "account vision in QOS short (MaxTRESPerAccount): 5"}));
  EXPECT_EQ(job_.at_most->gpus, 2);
}

TEST_F(GpuLimitsTest, WhatJobsOfOthersHaveIsTakenOff) {
  snapshot_.limits.associations = {{"vision", "", "", "", 8, {}}};
  SlurmJob job;
  job.account = "vision";
  job.state = SlurmState::kRunning;
  job.gpus_on = {{"n1", "gpu:v100:2(IDX:0-1)"}, {"n2", "gpu:v100:1(IDX:0)"}};
  snapshot_.jobs.push_back(std::make_shared<const SlurmJob>(job));
  job.admin_comment = "elastic-of:1 job=1-a worker=1-a.0 gpus=1";
  ASSERT_TRUE(ParseWorkerTag(job.admin_comment));
  snapshot_.jobs.push_back(std::make_shared<const SlurmJob>(job));
  EXPECT_EQ(Of("vision"), Texts{"account vision (GrpTRES): 5"});
}

TEST_F(GpuLimitsTest, KeepTheirNumbersUntilTheyChange) {
  snapshot_.limits.associations = {{"vision", "", "", "", 8, {}}, {"speech", "", "", "", 4, {}}};
  GpuLimits limits("main");
  EXPECT_TRUE(limits.Read(snapshot_));
  SlurmJob job;
  job.user = "ada";
  job.account = "speech";
  limits.Limit(job, &job_);
  job.account = "vision";
  job.state = SlurmState::kRunning;
  job.gpus_on = {{"n1", "gpu:v100:2(IDX:0-1)"}};
  snapshot_.jobs.push_back(std::make_shared<const SlurmJob>(job));
  EXPECT_FALSE(limits.Read(snapshot_));
  const SharedLimit& speech = limits.shared()[At(job_.limited_by.front())];
  EXPECT_EQ(speech, (SharedLimit{"account speech (GrpTRES)", 4}));
  snapshot_.limits.associations.back().together = 5;
  EXPECT_TRUE(limits.Read(snapshot_));
}

TEST_F(GpuLimitsTest, AreReadFromWhatScontrolShows) {
  snapshot_.limits = ReadLimitsText(
      "Current Association Manager state\nAssociation Records\n"
      "ClusterName=c Account=vision UserName= Partition= Priority=0 ID=3 ParentAccount=root(1) "
      "Lft=2 GrpTRES=cpu=N(0),mem=N(0),gres/gpu=4(2),gres/gpu:a100=1(0) MaxTRESPJ=\n"
      "ClusterName=c Account=vision UserName=ada(65534) Partition= ParentAccount= "
      "GrpTRES=cpu=N(0),gres/gpu=N(2) MaxTRESPJ=gres/gpu=3\nQOS Records\n"
      "QOS=short(2) GrpTRES=cpu=100(0),gres/gpu=8(0) GrpTRESMins=gres/gpu=7(0) MaxTRESPJ=gres/gpu=2"
      " Account Limits= vision={MaxJobsPA=N(0) MaxTRESPA=cpu=N(0),gres/gpu=N(0)} User Limits= "
      "65534={MaxJobsPU=3(0) MaxTRESPU=cpu=N(0),gres/gpu=3(0)}\n"
      "QOS=normal(1) GrpTRES=gres/gpu=99999999999999(0) MaxTRESPJ=\n");
  EXPECT_EQ(Of("vision"), Texts{"account vision (GrpTRES): 4"});
  EXPECT_EQ(job_.at_most, (GpuLimit{3, "MaxTRESPerJob of user ada of account vision"}));
  EXPECT_EQ(Of("vision", "short"),
            (Texts{"QOS short (GrpTRES): 8", "user ada in QOS short (MaxTRESPerUser): 3"}));
  EXPECT_EQ(job_.at_most->gpus, 2);
}

}  // namespace
}  // namespace allot
