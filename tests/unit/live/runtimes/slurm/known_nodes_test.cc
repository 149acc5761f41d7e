#include "live/runtimes/slurm/known_nodes.h"

#include <gtest/gtest.h>

#include "clients/slurm/slurm_reservation.h"

namespace allot {
namespace {

SlurmNode Node(const std::string& name, const std::string& gres) {
  SlurmNode node;
  node.name = name;
  node.gres = gres;
  node.partitions = {"main"};
  return node;
}

TEST(KnownNodes, AMachineOfSeveralTypesIsANodeOfEach) {
  SlurmSnapshot snapshot;
  snapshot.nodes = {Node("n1", "gpu:v100:4"), Node("n2", "gpu:v100:2,gpu:k80:1"),
                    Node("elsewhere", "gpu:v100:4")};
  snapshot.nodes[2].partitions = {"other"};
  KnownNodes nodes;
  RuntimeSnapshot seen;
  nodes.Read(snapshot, "main", SlurmMemory::kNotCounted, &seen);
  std::vector<std::string> names;
  for (const RuntimeNode& node : seen.nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"n1", "n2:v100", "n2:k80"}));
  EXPECT_EQ(nodes.PartOn("n1", "v100"), "n1");
  EXPECT_EQ(nodes.PartOn("n2", "k80"), "n2:k80");
  EXPECT_EQ(nodes.parts().at("n2:k80").node, "n2");
}

TEST(KnownNodes, ANodeThatSlurmDoesNotKnowStaysAsItWas) {
  SlurmSnapshot snapshot;
  snapshot.nodes = {Node("n1", "gpu:4")};
  snapshot.nodes[0].state = {SlurmNodeFlag::kDown};
  KnownNodes nodes;
  RuntimeSnapshot seen;
  nodes.Read(snapshot, "main", SlurmMemory::kNotCounted, &seen);
  snapshot.nodes[0].state = {SlurmNodeFlag::kUndetermined};
  nodes.Read(snapshot, "main", SlurmMemory::kNotCounted, &seen);
  EXPECT_FALSE(seen.nodes.at(1).up());
}

TEST(KnownNodes, NodeThatLostGpusKeepsWhatRuns) {
  SlurmSnapshot snapshot;
  snapshot.nodes = {Node("n1", "gpu:4")};
  snapshot.nodes[0].state = {SlurmNodeFlag::kMixed, SlurmNodeFlag::kDrain,
                             SlurmNodeFlag::kInvalidRegistration};
  KnownNodes nodes;
  RuntimeSnapshot seen;
  nodes.Read(snapshot, "main", SlurmMemory::kNotCounted, &seen);
  EXPECT_TRUE(seen.nodes.at(0).up());
  EXPECT_TRUE(seen.nodes.at(0).closed);
}

TEST(KnownNodes, ReservationThatWillBeginIsARecall) {
  SlurmSnapshot snapshot;
  snapshot.nodes = {Node("n1", "gpu:4"), Node("n2", "gpu:4")};
  const std::vector<SlurmReservation> reservations = {
      {.begin = 500, .end = 900, .nodes = {"n1"}},
      {.begin = 300, .end = 400, .nodes = {"n1"}},
      {.begin = 300, .end = 400, .nodes = {"n2"}, .gpus = 2}};
  MarkReservations(reservations, 100, &snapshot.nodes);
  KnownNodes nodes;
  RuntimeSnapshot seen;
  nodes.Read(snapshot, "main", SlurmMemory::kNotCounted, &seen);
  EXPECT_EQ(seen.nodes.at(0).recall, (NodeRecall{.from = 300, .until = 400, .binds_limits = true}))
      << "the first of them";
  EXPECT_EQ(nodes.parts().at("n1").reserved_from, 300);
  EXPECT_FALSE(seen.nodes.at(1).recall.has_value()) << "of a part of the node";
  MarkReservations(reservations, 1000, &snapshot.nodes);
  nodes.Read(snapshot, "main", SlurmMemory::kNotCounted, &seen);
  EXPECT_FALSE(seen.nodes.at(2).recall.has_value()) << "all are over";
}

}  // namespace
}  // namespace allot
