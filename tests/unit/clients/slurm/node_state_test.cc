#include "clients/slurm/node_state.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

SlurmNodeState Read(const char* text) {
  SlurmNodeState state;
  state.AddText(text);
  return state;
}

struct KnownNodeState {
  const char* text;
  bool of_cluster;  // whatif, forecast: does the cluster have it?
  bool usable;      // serve, doctor: can jobs run there now?
  bool drained;     // not usable by an administrator's will
};

// sinfo and scontrol print these, JSON has them as lists of words.
const KnownNodeState kKnownNodes[] = {
    {"IDLE", true, true, false},
    {"ALLOCATED", true, true, false},
    {"MIXED", true, true, false},
    {"DOWN", false, false, false},
    {"UNKNOWN", false, false, false},
    {"ERROR", false, false, false},
    {"FUTURE", false, false, false},
    {"IDLE+DRAIN", false, false, true},
    {"MIXED+DRAIN", false, false, true},
    {"DOWN+DRAIN", false, false, false},
    {"IDLE+FAIL", false, false, false},
    {"ALLOCATED+FAIL", false, false, false},
    {"IDLE+MAINTENANCE", true, false, true},
    {"DOWN+MAINTENANCE", false, false, false},
    {"IDLE+RESERVED", true, true, false},
    {"IDLE+PLANNED", true, true, false},
    {"IDLE+COMPLETING", true, true, false},
    {"IDLE+BLOCKED", true, true, false},
    {"ALLOCATED+PERFCTRS", true, true, false},
    // Gets no new work, but what runs there goes on until Slurm says DOWN.
    {"IDLE+NOT_RESPONDING", false, true, false},
    {"IDLE+CLOUD+POWERED_DOWN", true, false, false},
    {"IDLE+POWERING_DOWN", true, false, false},
    {"IDLE+POWER_DOWN", true, true, false},
    {"IDLE+POWERING_UP", true, true, false},
    {"IDLE+REBOOT_REQUESTED", true, true, false},
    {"IDLE+REBOOT_ISSUED", true, false, false},
    {"IDLE+INVALID_REG", false, false, false},
    {"IDLE+DYNAMIC_NORM+A_WORD_OF_LATER_RELEASES", true, true, false},
};

TEST(SlurmNodeStates, EachCountsAsItsTableSays) {
  for (const KnownNodeState& known : kKnownNodes) {
    const SlurmNodeState state = Read(known.text);
    EXPECT_EQ(state.WhyNotOfCluster() == SlurmNodeState::Absence::kNone, known.of_cluster)
        << known.text;
    EXPECT_EQ(state.IsUsableNow(), known.usable) << known.text;
    EXPECT_EQ(state.IsDrained(), known.drained) << known.text;
  }
}

TEST(SlurmNodeStates, ShortFormsOfSinfo) {
  const char* const forms[][2] = {{"idle", "IDLE"},
                                  {"alloc", "ALLOCATED"},
                                  {"mix", "MIXED"},
                                  {"down*", "DOWN+NOT_RESPONDING"},
                                  {"drain", "DRAIN"},
                                  {"drng", "DRAIN"},
                                  {"drained*", "DRAIN+NOT_RESPONDING"},
                                  {"draini", "DRAIN"},
                                  {"failg", "FAIL"},
                                  {"maint", "MAINTENANCE"},
                                  {"resv", "RESERVED"},
                                  {"plnd", "PLANNED"},
                                  {"comp", "COMPLETING"},
                                  {"unk*", "UNKNOWN+NOT_RESPONDING"},
                                  {"futr", "FUTURE"},
                                  {"inval", "INVALID_REG"},
                                  {"npc", "PERFCTRS"},
                                  {"idle~", "IDLE+POWERED_DOWN"},
                                  {"idle#", "IDLE+POWERING_UP"},
                                  {"idle!", "IDLE+POWER_DOWN"},
                                  {"idle%", "IDLE+POWERING_DOWN"},
                                  {"idle$", "IDLE+MAINTENANCE"},
                                  {"mix-", "MIXED+PLANNED"},
                                  {"idle@", "IDLE+REBOOT_REQUESTED"},
                                  {"boot^", "REBOOT_ISSUED"}};
  for (const auto& [form, words] : forms) EXPECT_EQ(Read(form), Read(words)) << form;
}

TEST(SlurmNodeStates, AfterARestartOfTheControllerNothingIsKnown) {
  EXPECT_TRUE(Read("UNKNOWN").IsUnknown());
  EXPECT_FALSE(Read("UNKNOWN+DRAIN").IsUnknown());
  EXPECT_FALSE(Read("IDLE").IsUnknown());
}

}  // namespace
}  // namespace allot
