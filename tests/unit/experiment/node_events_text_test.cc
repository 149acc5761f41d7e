#include "experiment/node_events_text.h"

#include <gtest/gtest.h>

#include "experiment/world.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/experiment/small_trace.h"

namespace allot {
namespace {

TEST(NodeEventsText, SaysWhatServicesNeedLendAndLack) {
  SimOptions options;
  options.services = "weekly";
  options.lend = "level";
  options.recall_notice = 1800;
  const std::vector<LendingFigures> runs = {{.demand = 100, .lent = 390, .shortage = 0.002},
                                            {.demand = 300, .lent = 190, .shortage = 0}};
  const std::string text = LendingInWords(options, runs);
  for (const char* part : {"(weekly) need 200 GPUs", "lend 290 (--lend level)", "0.050 %",
                           "30m 00s before", "and wait for GPUs"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
  EXPECT_EQ(LendingInWords(options, {}), "");
}

TEST(NodeEventsText, SaysThatSpotNodesAreCalledBack) {
  SimOptions options;
  options.failures = "spot:notice=2min";
  EXPECT_NE(NodeEventsInWords(options).find("called back 2m 00s before"), std::string::npos);
}

TEST(NodeEventsText, LendersAreOfServices) {
  const testing_support::SmallTrace trace("a,0,1,100\n");
  WorldSpec spec = trace.OnOneNode("1x4");
  spec.lend = "level";
  ExpectError(ExitCode::kUsage, {"--lend", "no --services"}, [&] { World(spec).Scenarios(); });
}

}  // namespace
}  // namespace allot
