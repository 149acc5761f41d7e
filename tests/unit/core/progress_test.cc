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
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2)
      << "a line at once, every 10 s, and at the end";
}

TEST(Progress, EndsAtAllIntoAFile) {
  testing::internal::CaptureStderr();
  Progress progress("train", 3);
  for (int done = 1; done <= 3; ++done) progress.Update(done);
  progress.Update(3);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("train: 3/3 100 %"), std::string::npos) << text;
  EXPECT_EQ(text.find("3/3"), text.rfind("3/3")) << text;
}

TEST(Progress, QuietWritesNothing) { EXPECT_EQ(StderrOf(true), ""); }

TEST(ColourAllowed, NeverIntoAFile) {
  testing::internal::CaptureStderr();
  EXPECT_FALSE(ColourAllowed());
  testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace allot
