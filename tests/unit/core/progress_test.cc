#include "core/progress.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

// While captured, stderr is a file: what a log of a batch job sees.
std::string StderrOf(bool quiet) {
  testing::internal::CaptureStderr();
  {
    Progress progress("train", 1000, quiet);
    for (int i = 1; i <= 1000; ++i) progress.Update(i, "note");
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, WritesNoBarIntoAFile) { EXPECT_EQ(StderrOf(false), ""); }

TEST(Progress, QuietWritesNothing) { EXPECT_EQ(StderrOf(true), ""); }

TEST(ColourAllowed, NeverIntoAFile) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(ColourAllowed());
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace allot
