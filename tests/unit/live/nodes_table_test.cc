#include "live/screens/nodes_table.h"

#include <gtest/gtest.h>

#include <string>

namespace allot {
namespace {

TEST(NodesTable, SaysWhichJobsAccuseANodeAndWithWhichOdds) {
  DaemonStatus status;
  status.nodes = {{"n1", "a100", 4, 2, 1}, {"n2", "a100", 4}, {"n3", "a100", 4}};
  status.nodes[1].suspicion = {0.0456, {"41"}};
  status.nodes[2].suspicion = {312.4, {"41", "43"}};
  status.nodes[2].state = NodeState::kAvoided;
  status.nodes[2].why = "41, 43 failed there, 25 min more";
  const std::string text = NodesText(status);
  for (const char* line : {"node  type  GPUs  used  by others  state    fails jobs  accused by\n",
                           "\nn1    a100     4     2          1  up\n",
                           "\nn2    a100     4     0          0  up        0.05 to 1  41\n",
                           "\nn3    a100     4     0          0  avoided    312 to 1  41, 43\n",
                           "\nn3: 41, 43 failed there, 25 min more\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
  }
}

}  // namespace
}  // namespace allot
