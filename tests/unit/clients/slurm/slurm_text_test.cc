#include "clients/slurm/slurm_text.h"

#include <gtest/gtest.h>

#include "clients/slurm/foreign_bytes.h"
#include "core/error.h"

namespace allot {
namespace {

using Names = std::vector<std::string>;

TEST(SlurmText, OfTheConfiguration) {
  SlurmSettings settings;
  ReadConfigText(
      "Configuration data as of 2026-11-25T14:42:28\nAccountingStorageType   = "
      "accounting_storage/none\nJobRequeue              = 0\nJobSubmitPlugins        = "
      "lua\nSchedulerParameters     = batch_sched_delay=0,sched_interval=2\nSchedulerType          "
      " "
      "= sched/builtin\nSelectType              = select/cons_tres\nSlurmUser               = "
      "slurm(64030)\nSlurmctldHost[0]        = vm(127.0.0.1)\nSlurmctldHost[1]        = other\n"
      "SLURM_VERSION           = 24.11.5\nStateSaveLocation       = /var/lib/slurm\nJobFileAppend  "
      "         = 0\n"
      "KillWait                = 45 sec\nSelectTypeParameters    = CR_CORE_MEMORY\n"
      "DefMemPerNode           = UNLIMITED\nJobDefaults             = (null)\n"
      "PriorityType            = priority/multifactor\nPriorityWeightAge       = 1000\n"
      "PriorityWeightFairShare = 500\nPriorityWeightTRES      = (null)\n",
      &settings);
  EXPECT_EQ(settings.version, "24.11.5");
  EXPECT_EQ(settings.address, "127.0.0.1");
  EXPECT_EQ(settings.user, "slurm");
  EXPECT_EQ(settings.user_id, 64030U);
  EXPECT_EQ(settings.scheduler_parameters, "batch_sched_delay=0,sched_interval=2");
  EXPECT_EQ(settings.select, "select/cons_tres");
  EXPECT_EQ(settings.state_folder, "/var/lib/slurm");
  EXPECT_EQ(settings.priority, "priority/multifactor");
  EXPECT_EQ(settings.priority_weights, 1500U);
  EXPECT_FALSE(settings.requeue);
  EXPECT_FALSE(settings.appends_output);
  EXPECT_EQ(settings.kill_wait, 45);
  EXPECT_EQ(settings.memory, SlurmMemory::kWholeByNone);
}

TEST(SlurmText, OfDefaultsOfMemory) {
  const auto memory_of = [](const std::string& lines) {
    SlurmSettings settings;
    ReadConfigText(lines, &settings);
    return settings.memory;
  };
  EXPECT_EQ(memory_of("SelectTypeParameters = CR_CORE\n"), SlurmMemory::kNotCounted);
  for (const char* by_default :
       {"DefMemPerCPU = 400", "DefMemPerNode = 1000", "JobDefaults = DefMemPerGPU=9"}) {
    EXPECT_EQ(memory_of(std::string("SelectTypeParameters = CR_CPU_MEMORY\n") + by_default),
              SlurmMemory::kByDefault)
        << by_default;
  }
  const char* text =
      "PartitionName=main State=UP JobDefaults=(null) DefMemPerNode=UNLIMITED\n"
      "PartitionName=own State=UP JobDefaults=DefMemPerGPU=100 DefMemPerNode=UNLIMITED\n";
  const auto partitions = ReadPartitionsText(text, SlurmMemory::kWholeByNone);
  EXPECT_EQ(partitions[0].memory, SlurmMemory::kWholeByNone);
  EXPECT_EQ(partitions[1].memory, SlurmMemory::kByDefault);
  EXPECT_EQ(ReadPartitionsText(text, SlurmMemory::kNotCounted)[1].memory, SlurmMemory::kNotCounted);
}

TEST(SlurmText, OfPartitionsAndReservations) {
  const auto partitions = ReadPartitionsText(
      "PartitionName=main AllowGroups=ALL State=UP TotalCPUs=80\nPartitionName=elastic State=DOWN\n"
      "PartitionName=last State=DRAIN\n",
      SlurmMemory::kNotCounted);
  ASSERT_EQ(partitions.size(), 3U);
  EXPECT_TRUE(partitions[0].up && !partitions[1].up && partitions[2].up);
  EXPECT_TRUE(ReadReservationsText("No reservations in the system\n").empty());
  const auto reservations = ReadReservationsText(
      "ReservationName=a StartTime=100 EndTime=200 Duration=00:01:40 Nodes=n[1-2] NodeCnt=2 "
      "TRES=cpu=8,gres/gpu=3,gres/gpu:v100=3 Users=root\n"
      "ReservationName=licence StartTime=100 EndTime=200 Nodes=(null) TRES=(null)\n");
  ASSERT_EQ(reservations.size(), 2U);
  EXPECT_EQ(reservations[0].begin, 100);
  EXPECT_EQ(reservations[0].end, 200);
  EXPECT_EQ(reservations[0].nodes, (Names{"n1", "n2"}));
  EXPECT_EQ(reservations[0].cpus, 8);
  EXPECT_EQ(reservations[0].gpus, 3);
  EXPECT_TRUE(reservations[1].nodes.empty());
}

TEST(SlurmText, OfJobsThatWantWholeNodes) {
  std::vector<SlurmJob> jobs(6);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].id = static_cast<std::uint32_t>(i + 1);
  jobs[3].exclusive = true;
  MarkExclusive(
      "1               NODE            \n2               NO              \n3    USER\n\n"
      "5    TOPO\n6               \n",
      &jobs);
  EXPECT_TRUE(jobs[0].exclusive && jobs[2].exclusive && jobs[3].exclusive);
  EXPECT_TRUE(jobs[4].exclusive) << "one that this release of allot has no name for";
  EXPECT_FALSE(jobs[1].exclusive || jobs[5].exclusive);
}

TEST(ForeignBytes, ComeBackAndAreHiddenFromParsers) {
  const std::string texts[] = {"",
                               "plain",
                               "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                               "\xff\xfe",
                               "\xc3",
                               "\xed\xa0\x80",
                               "\xf4\x8f\xbf\xbf",
                               "\xf4\x8f\xbc\x80 and \xf4\x8f",
                               "\xc0\xaf\xf8\x88"};
  for (const std::string& text : texts) {
    EXPECT_EQ(ShowForeignBytes(HideForeignBytes(text)), text);
  }
  EXPECT_EQ(HideForeignBytes("\xc3\xa4"), "\xc3\xa4");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(ShowForeignBytes(HideForeignBytes(all)), all);
}

}  // namespace
}  // namespace allot
