#include "core/progress.h"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Progress, WritesALineAndNoBarIntoAFile) {
  const std::string text = StderrOf(false);
  EXPECT_TRUE(text.starts_with("train: 1/1000")) << text;
  EXPECT_EQ(text.find('['), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "a line at once, then every 10 s";
}

TEST(Progress, QuietWritesNothing) { EXPECT_EQ(StderrOf(true), ""); }

TEST(ColourAllowed, NeverIntoAFile) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(ColourAllowed());
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace allot
