#include "live/state/standby_note.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "core/file.h"
#include "core/file_lock.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

TEST(StandbyNoteTest, AWaitingDaemonIsFoundWithItsReason) {
  const testing_support::TempFolder folder;
  const FileLock lock(folder / "lock", "one daemon a state folder");
  auto note = std::make_unique<StandbyNote>(folder / "", "slurm:address=a|b");
  EXPECT_FALSE(StandbyIn(folder / "")) << "before the first update";
  note->Update("first");
  note->Update("'/state' is in use by ctl1, process 5");
  const std::optional<WaitingStandby> found = StandbyIn(folder / "");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->process, std::to_string(::getpid()));
  EXPECT_EQ(found->runtime, "slurm:address=a|b");
  EXPECT_EQ(found->why, "'/state' is in use by ctl1, process 5");
  note.reset();
  EXPECT_FALSE(StandbyIn(folder / "")) << "it is active";
}

TEST(StandbyNoteTest, NotesOfDeadDaemonsAreIgnored) {
  const testing_support::TempFolder folder;
  StandbyNote note(folder / "", "slurm");
  note.Update("a daemon without a lock");
  EXPECT_FALSE(StandbyIn(folder / ""));
  const FileLock lock(folder / "lock", "one daemon a state folder");
  EXPECT_TRUE(StandbyIn(folder / ""));
  for (const char* damaged : {"", "{", "{}", R"({"process":"1","runtime":"slurm","why":"x"})",
                              R"({"process":"","runtime":"slurm","why":"x"})"}) {
    WriteTextFile(folder / "standby.json", damaged);
    EXPECT_FALSE(StandbyIn(folder / "")) << damaged;
  }
}

}  // namespace
}  // namespace allot
