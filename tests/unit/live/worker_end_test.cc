#include "live/runtimes/worker_end.h"

#include <gtest/gtest.h>

#include <array>

namespace allot {
namespace {

constexpr std::array kExits = {WorkerExit::kSuccess, WorkerExit::kFailure, WorkerExit::kCancelled};

// All combinations of facts.
template <typename Visit>
void ForAllFacts(const Visit& visit) {
  for (const ResizeMode mode : {ResizeMode::kHot, ResizeMode::kRestart}) {
    for (const WorkerExit exit : kExits) {
      for (unsigned bits = 0; bits < 64; ++bits) {
        const auto bit = [bits](unsigned n) { return (bits >> n & 1) != 0; };
        visit(WorkerEndFacts{mode, exit, bit(0), bit(1), bit(2), bit(3), bit(4), bit(5)});
      }
    }
  }
}

// A hot worker that ends with success as it should: left out of the latest epoch.
WorkerEndFacts LeftOut() {
  return {.exit = WorkerExit::kSuccess, .watched = true, .joined = true, .announced = true};
}

TEST(WorkerEnd, WhatTheDaemonAskedForIsNeverAFailure) {
  ForAllFacts([](const WorkerEndFacts& facts) {
    if (!facts.stopped && !facts.job_over && facts.exit != WorkerExit::kCancelled) return;
    EXPECT_EQ(JudgeWorkerEnd(facts).end, WorkerEnd::kMeant);
  });
}

TEST(WorkerEnd, AnExitCodeOrSignalThatNobodyAskedForIsAFailure) {
  ForAllFacts([](const WorkerEndFacts& facts) {
    if (facts.stopped || facts.job_over || facts.exit != WorkerExit::kFailure) return;
    EXPECT_TRUE(JudgeWorkerEnd(facts).failed());
    EXPECT_STREQ(JudgeWorkerEnd(facts).note, "");
  });
}

TEST(WorkerEnd, ARestartedProgramThatSucceedsHasFinished) {
  EXPECT_EQ(JudgeWorkerEnd({.mode = ResizeMode::kRestart, .exit = WorkerExit::kSuccess}).end,
            WorkerEnd::kFinished);
}

TEST(WorkerEnd, OnlyARestartedProgramFinishesByItsExit) {
  ForAllFacts([](const WorkerEndFacts& facts) {
    if (facts.mode == ResizeMode::kHot) {
      EXPECT_NE(JudgeWorkerEnd(facts).end, WorkerEnd::kFinished);
    }
  });
}

TEST(WorkerEnd, AHotWorkerLeavesWithSuccessWhenAnEpochLeavesItOut) {
  EXPECT_EQ(JudgeWorkerEnd(LeftOut()).end, WorkerEnd::kMeant);
}

TEST(WorkerEnd, AHotWorkerThatWasToTrainFailsEvenWithSuccess) {
  WorkerEndFacts facts = LeftOut();
  facts.member = true;
  EXPECT_TRUE(JudgeWorkerEnd(facts).failed());
  EXPECT_STREQ(JudgeWorkerEnd(facts).note, ", as a member of the latest epoch");
  facts = LeftOut();
  facts.joined = false;
  EXPECT_TRUE(JudgeWorkerEnd(facts).failed());
  EXPECT_STREQ(JudgeWorkerEnd(facts).note, ", before it had joined");
  facts = LeftOut();
  facts.announced = false;
  EXPECT_TRUE(JudgeWorkerEnd(facts).failed());
  EXPECT_STREQ(JudgeWorkerEnd(facts).note, ", before there was an epoch");
}

TEST(WorkerEnd, OneThatEndedWithSuccessWhileNoDaemonRanHasLeft) {
  EXPECT_EQ(JudgeWorkerEnd({.exit = WorkerExit::kSuccess}).end, WorkerEnd::kMeant);
}

TEST(WorkerEnd, TheReasonSaysWhatWasWrong) {
  RuntimeWorker worker;
  SetEnded({WorkerEnd::kFailed, ", before it had joined"}, "exit code 0", &worker);
  EXPECT_EQ(worker.state, WorkerState::kEnded);
  EXPECT_TRUE(worker.failed);
  EXPECT_EQ(worker.reason, "exit code 0, before it had joined");
}

}  // namespace
}  // namespace allot
