#include "core/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "core/error.h"

namespace allot {
namespace {

// Each in a process of its own: the request lasts as long as the process.
TEST(InterruptDeathTest, FirstSignalIsARequest) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EXIT(
        {
          InstallInterruptHandler();
          const bool before = Interrupted();
          std::raise(signal);
          std::_Exit(!before && Interrupted() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "")
        << "signal " << signal;
  }
}

TEST(InterruptDeathTest, SecondSignalEndsTheProcess) {
  EXPECT_EXIT(
      {
        InstallInterruptHandler();
        std::raise(SIGINT);
        std::raise(SIGTERM);
      },
      testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, ThrowsWithTheExitCodeOfAnInterrupt) {
  EXPECT_EXIT(
      {
        InstallInterruptHandler();
        ThrowIfInterrupted();
        std::raise(SIGINT);
        try {
          ThrowIfInterrupted();
        } catch (const Error& error) {
          std::_Exit(static_cast<int>(error.code()));
        }
      },
      testing::ExitedWithCode(130), "");
}

int signals_heard = 0;

TEST(InterruptDeathTest, AScopeAlsoCallsTheHandlerOfBeforeAndLeavesNothing) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, [](int) { ++signals_heard; });
        {
          const InterruptScope outer;
          {
            const InterruptScope inner;
            std::raise(SIGINT);
            std::raise(SIGINT);
          }
          if (!Interrupted() || signals_heard != 2) std::_Exit(1);
        }
        std::raise(SIGINT);
        std::_Exit(!Interrupted() && signals_heard == 3 ? 0 : 2);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace allot
