#include "clients/slurm/slurm_events.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(SlurmEvents, RowsAreRead) {
  const auto events = ReadEventsText(
      "n1|1795618000|1795619000|DOWN*|Not responding\n"
      "n2|1795618100|Unknown|DRAIN|gpu|2 is off\n"
      "\nsacctmgr: odd line\nn3|Unknown|Unknown|DOWN|\n");
  ASSERT_EQ(events.size(), 2U) << "n3 has no beginning";
  EXPECT_EQ(events[0].node, "n1");
  EXPECT_EQ(events[0].begin, 1795618000);
  EXPECT_EQ(events[0].end, 1795619000);
  EXPECT_EQ(events[0].reason, "Not responding");
  EXPECT_TRUE(events[0].state.Has(SlurmNodeFlag::kDown));
  EXPECT_FALSE(events[1].end.has_value()) << "it goes on";
}

TEST(SlurmEvents, NodesThatSomebodyWantsAwayDidNotFail) {
  const auto fails = [](const char* state) {
    return ReadEventsText(fmt::format("n1|1|2|{}|why\n", state)).at(0).IsFailure();
  };
  for (const char* state : {"DOWN", "DOWN*", "DOWN+DRAIN", "FAIL"})
    EXPECT_TRUE(fails(state)) << state;
  for (const char* state : {"DRAIN", "MAINT", "IDLE+DRAIN", "DOWN+POWERED_DOWN",
                            "DOWN+REBOOT_ISSUED", "DOWN+MAINTENANCE"}) {
    EXPECT_FALSE(fails(state)) << state;
  }
}

TEST(SlurmEvents, ProgramThatFailsIsRefusedWithItsWords) {
  std::vector<SlurmNodeEvent> events;
  const Status done = LoadNodeEvents("/bin/false", 1, 10, &events);
  EXPECT_FALSE(done.ok());
  EXPECT_NE(done.message().find("exit status 1"), std::string::npos) << done.message();
}

}  // namespace
}  // namespace allot
