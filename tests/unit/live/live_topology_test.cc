// A daemon whose nodes lie in leaves of a file (cluster/topology_text.h).

#include <gtest/gtest.h>

#include <fstream>

#include "cluster/topology.h"
#include "core/error.h"
#include "core/index.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/live/live_cluster_fixture.h"

namespace allot {
namespace {

// n1 and n2 are in two leaves; n9 is of another cluster.
class LiveTopologyTest : public LiveClusterFixture {
 protected:
  LiveTopologyTest() {
    const auto path = folder_ / "nodes.csv";
    std::ofstream(path) << "node,leaf\nn1,west\nn2,east\nn9,east\n";
    options_.topology = ReadTopologyOfNodes(path.string() + ",leaf:factor=5,all:factor=9");
  }
  const Topology& Seen() const { return *port_->Observe().cluster->topology(); }
};

TEST_F(LiveTopologyTest, PoliciesSeeLeavesAndHowMuchJobsCommunicate) {
  runtime_.AddJob("a", 1, 1, 1).comm_share = 0.25;
  Serve();
  port_->WaitForChange(0);
  EXPECT_NE(Seen().DomainOf(1, 0), Seen().DomainOf(1, 1));
  ASSERT_EQ(port_->Observe().places.size(), 1u);
  EXPECT_EQ(port_->Observe().places[0].communication.share, 0.25F);
}

TEST_F(LiveTopologyTest, ANodeThatTheFileLacksIsALeafOfItsOwnAndTold) {
  runtime_.AddJob("a", 1, 1, 1);
  Serve();
  port_->WaitForChange(0);
  runtime_.AddNode("n3", 4);
  runtime_.AddNode("n4", 4);
  Until("the new nodes", [&] { return cluster_->state().nodes().size() == 4; });
  EXPECT_EQ(Seen().domains(1), 4);
  const auto& notes = cluster_->state().topology_notes();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("1 x a node that the cluster lacks"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("2 x a node that the file lacks"), std::string::npos) << notes[1];
  EXPECT_NE(notes[1].find("n3"), std::string::npos) << notes[1];
}

// Across leaves an iteration takes 0.5 + 0.5 x 9 = 5 times as long.
TEST_F(LiveTopologyTest, ARateThatIsMeasuredOnABadPlaceIsThatOfTheBestInTables) {
  runtime_.AddJob("a", 2, 2, 2);
  runtime_.AddJob("b", 4, 4, 4).comm_share = 0.5;
  Serve();
  port_->WaitForChange(0);
  Decide({{"a", 2}, {"b", 4}});
  runtime_.jobs.at("b").progress.rate = 100;
  Until("a table of measured rates", [&] {
    const auto& table = *port_->Observe().table[1];
    return std::abs(table[table.Find({4, 0}, 0)].rate - 500) < 1e-6;
  });
}

TEST(TopologyOfNodesTest, SizesAreRefusedBecauseNodesComeAndGo) {
  const std::string refusal = ErrorOf(ExitCode::kUsage, [] { ReadTopologyOfNodes("leaf=2"); });
  EXPECT_NE(refusal.find("a file that names them"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("leaf=2"), std::string::npos) << refusal;
}

}  // namespace
}  // namespace allot
