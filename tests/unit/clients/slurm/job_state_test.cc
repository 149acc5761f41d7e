#include "clients/slurm/job_state.h"

#include <gtest/gtest.h>

#include <string>

namespace allot {
namespace {

using Phase = SlurmJobPhase;
using End = SlurmJobEnd;

struct KnownState {
  const char* name;
  const char* code;
  SlurmJobState state;
  Phase phase;
  std::optional<End> end;
};

// What each state counts as: for the Slurm runtime (does the job wait, run, or is it over?) and for
// traces (how did it end?).
const KnownState kKnown[] = {
    {"PENDING", "PD", SlurmJobState::kPending, Phase::kWaiting, {}},
    {"RUNNING", "R", SlurmJobState::kRunning, Phase::kRunning, {}},
    {"SUSPENDED", "S", SlurmJobState::kSuspended, Phase::kRunning, {}},
    {"COMPLETED", "CD", SlurmJobState::kCompleted, Phase::kEnded, End::kCompleted},
    {"CANCELLED", "CA", SlurmJobState::kCancelled, Phase::kEnded, End::kCancelled},
    {"FAILED", "F", SlurmJobState::kFailed, Phase::kEnded, End::kFailed},
    {"TIMEOUT", "TO", SlurmJobState::kTimeout, Phase::kEnded, End::kFailed},
    {"NODE_FAIL", "NF", SlurmJobState::kNodeFail, Phase::kLostNodes, End::kFailed},
    {"PREEMPTED", "PR", SlurmJobState::kPreempted, Phase::kLostNodes, End::kCancelled},
    {"BOOT_FAIL", "BF", SlurmJobState::kBootFail, Phase::kLostNodes, End::kFailed},
    {"DEADLINE", "DL", SlurmJobState::kDeadline, Phase::kEnded, End::kFailed},
    {"OUT_OF_MEMORY", "OOM", SlurmJobState::kOutOfMemory, Phase::kEnded, End::kFailed},
    {"RESV_DEL_HOLD", "RD", SlurmJobState::kReservationDeleted, Phase::kWaiting, {}},
    {"REQUEUED", "RQ", SlurmJobState::kRequeued, Phase::kRequeued, {}},
    {"REQUEUE_FED", "RF", SlurmJobState::kRequeuedByFederation, Phase::kRequeued, {}},
    {"REQUEUE_HOLD", "RH", SlurmJobState::kRequeuedOnHold, Phase::kRequeued, {}},
    {"SPECIAL_EXIT", "SE", SlurmJobState::kSpecialExit, Phase::kRequeued, End::kFailed},
    {"REVOKED", "RV", SlurmJobState::kRevoked, Phase::kEnded, End::kCancelled},
    {"LAUNCH_FAILED", "LF", SlurmJobState::kLaunchFailed, Phase::kEnded, End::kFailed},
    {"RECONFIG_FAIL", "RC", SlurmJobState::kReconfigureFailed, Phase::kEnded, End::kFailed},
    {"CONFIGURING", "CF", SlurmJobState::kConfiguring, Phase::kRunning, {}},
    {"COMPLETING", "CG", SlurmJobState::kCompleting, Phase::kRunning, {}},
    {"RESIZING", "RS", SlurmJobState::kResizing, Phase::kRunning, {}},
    {"SIGNALING", "SI", SlurmJobState::kSignaling, Phase::kRunning, {}},
    {"STAGE_OUT", "SO", SlurmJobState::kStageOut, Phase::kRunning, {}},
    {"STOPPED", "ST", SlurmJobState::kStopped, Phase::kRunning, {}},
    {"POWER_UP_NODE", "PU", SlurmJobState::kPoweringUpNodes, Phase::kRunning, {}},
};

TEST(SlurmJobStates, EachCountsAsItsTableSays) {
  EXPECT_EQ(std::size(kKnown), static_cast<std::size_t>(kSlurmJobStates));
  for (const KnownState& known : kKnown) {
    EXPECT_EQ(ParseSlurmJobState(known.name), known.state) << known.name;
    EXPECT_EQ(ParseSlurmJobState(known.code), known.state) << known.code;
    EXPECT_EQ(FactsOf(known.state).name, known.name);
    EXPECT_EQ(FactsOf(known.state).phase, known.phase) << known.name;
    EXPECT_EQ(FactsOf(known.state).end, known.end) << known.name;
  }
}

TEST(SlurmJobStates, TextMayBeCutOrSayWho) {
  EXPECT_EQ(ParseSlurmJobState("CANCELLED by 1000"), SlurmJobState::kCancelled);
  EXPECT_EQ(ParseSlurmJobState("CANCELLED+"), SlurmJobState::kCancelled);
  for (const char* none : {"", "X", "DONE", "running"}) EXPECT_FALSE(ParseSlurmJobState(none));
}

TEST(SlurmJobStates, TheBaseStateComesBeforeFlags) {
  SlurmJobStates states;
  EXPECT_FALSE(states.Main());
  states.Add(SlurmJobState::kCompleting);
  EXPECT_EQ(states.Main(), SlurmJobState::kCompleting);
  states.Add(SlurmJobState::kFailed);
  EXPECT_EQ(states.Main(), SlurmJobState::kFailed);
  EXPECT_FALSE(states.IsRequeued());
  states.Add(SlurmJobState::kRequeuedOnHold);
  EXPECT_TRUE(states.IsRequeued());
}

}  // namespace
}  // namespace allot
