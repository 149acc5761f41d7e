#include "live/runtimes/slurm/foreign_gpus.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

class ForeignGpusTest : public testing::Test {
 protected:
  ForeignGpusTest() {
    node_.name = "n1";
    node_.cpus = 16;
  }
  SlurmJob& AddJob(const std::string& held, const std::string& admin_comment = "") {
    const auto job = std::make_shared<SlurmJob>();
    job->state = SlurmState::kRunning;
    job->admin_comment = admin_comment;
    job->gpus_on["n1"] = held;
    snapshot_.jobs.push_back(job);
    return *job;
  }
  GpuCount Taken(const std::string& type = "v100") const {
    return ForeignGpus(snapshot_).TakenOf(node_, {type, 4});
  }
  SlurmNode node_;
  SlurmSnapshot snapshot_;
};

constexpr const char* kOurs = "allot job=1-a shares=1-a.0@n1:1";

TEST_F(ForeignGpusTest, WhatOthersHoldIsTakenByType) {
  AddJob("gpu:v100:2(IDX:0-1)");
  AddJob("gpu:k80:1(IDX:4)");
  AddJob("gpu:v100:1(IDX:2)", kOurs);
  EXPECT_EQ(Taken(), 2);
  EXPECT_EQ(Taken("k80"), 1);
}

TEST_F(ForeignGpusTest, AGpuWithoutACoreIsOfNoUse) {
  AddJob("gpu:v100:1(IDX:0)", kOurs);
  node_.cpus_in_use = 13;
  EXPECT_EQ(Taken(), 0) << "three free GPUs, three free cores";
  node_.cpus_in_use = 15;
  EXPECT_EQ(Taken(), 2);
  node_.cpus_in_use = 16;
  EXPECT_EQ(Taken(), 3) << "what runs there keeps its own";
}

TEST_F(ForeignGpusTest, MemoryThatOursHoldIsNotTaken) {
  AddJob("gpu:v100:1(IDX:0)", kOurs).memory_held = 3000;
  SlurmJob& script = AddJob("", kOurs);
  script.gpus_on.clear();
  script.nodes = "n1";
  script.memory_held = 512;
  SlurmJob& two_nodes = AddJob("gpu:v100:1(IDX:1)", kOurs);
  two_nodes.gpus_on["n2"] = "gpu:v100:1(IDX:0)";
  two_nodes.memory_held = 2000;
  AddJob("gpu:v100:1(IDX:2)").memory_held = 700;
  node_.memory_in_use = 3000 + 512 + 1000 + 700;
  EXPECT_EQ(ForeignGpus(snapshot_).MemoryOn(node_), 700U);
}

TEST_F(ForeignGpusTest, AReservationOfCoresLeavesGpusThatHaveOthers) {
  node_.cpus_reserved = 4;
  EXPECT_EQ(Taken(), 0);
  node_.cpus_reserved = 14;
  EXPECT_EQ(Taken(), 2);
  node_.reserved = true;
  EXPECT_EQ(Taken(), 4);
}

TEST_F(ForeignGpusTest, ReservedGpusCountOnceWhoeverUsesThem) {
  node_.gpus_reserved = 2;
  EXPECT_EQ(Taken(), 2);
  AddJob("gpu:v100:1(IDX:0)").in_reservation = true;
  EXPECT_EQ(Taken(), 2);
  AddJob("gpu:v100:1(IDX:3)");
  EXPECT_EQ(Taken(), 3);
}

}  // namespace
}  // namespace allot
