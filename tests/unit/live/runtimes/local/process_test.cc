#include "live/runtimes/local/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

class ProcessTest : public testing::Test {
 protected:
  ProcessSpec Spec(std::vector<std::string> command) const {
    return {std::move(command),
            {{"GREETING", "hello $(world)"}},
            folder_,
            folder_ / "log",
            folder_ / "exit"};
  }
  std::string ExitOf(const ProcessId& id) const {
    for (int i = 0; i < 10'000 && Alive(id); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return ExitText(folder_ / "exit").value_or("nothing");
  }
  std::string Log() const {
    std::ifstream in(folder_ / "log");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  testing_support::TempFolder folder_;
};

TEST_F(ProcessTest, RunsWordsAsTheyAreAndWritesDownTheEnd) {
  NewProcess process(Spec({"printenv", "GREETING"}));
  EXPECT_TRUE(Alive(process.id()));
  EXPECT_EQ(Log(), "") << "it ran before it was told to";
  process.Go();
  EXPECT_EQ(ExitOf(process.id()), "0");
  EXPECT_EQ(Log(), "hello $(world)\n");
}

TEST_F(ProcessTest, ExitCodesAndSignalsAreTold) {
  NewProcess fails(Spec({"false"}));
  fails.Go();
  EXPECT_EQ(ExitOf(fails.id()), "1");
  std::filesystem::remove(folder_ / "exit");
  NewProcess sleeps(Spec({"sleep", "60"}));
  sleeps.Go();
  Signal(sleeps.id(), SIGTERM);  // also where the keeper has not started it yet
  EXPECT_EQ(ExitOf(sleeps.id()), "signal 15");
}

TEST_F(ProcessTest, ASignalBeforeTheProgramBeginsIsKeptForIt) {
  NewProcess process(Spec({"sleep", "60"}));
  Signal(process.id(), SIGTERM);
  process.Go();
  EXPECT_EQ(ExitOf(process.id()), "signal 15");
}

TEST_F(ProcessTest, WithoutGoNothingRuns) {
  ProcessId id;
  {
    NewProcess process(Spec({"touch", "ran"}));
    id = process.id();
  }
  EXPECT_EQ(ExitOf(id), "nothing");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(ProcessTest, AnotherProcessOfThatPidIsNotMeant) {
  NewProcess process(Spec({"sleep", "60"}));
  process.Go();
  ProcessId other = process.id();
  ++other.started;
  EXPECT_FALSE(Alive(other));
  Signal(other, SIGKILL);
  EXPECT_TRUE(Alive(process.id()));
  Signal(process.id(), SIGKILL);
  EXPECT_EQ(ExitOf(process.id()), "nothing") << "its keeper was killed with it";
}

TEST_F(ProcessTest, ACommandThatIsNoProgramIsRefused) {
  EXPECT_THROW(NewProcess(Spec({"no-such-program"})), Error);
  EXPECT_THROW(NewProcess(Spec({"./log"})), Error);
}

}  // namespace
}  // namespace allot
