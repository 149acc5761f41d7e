#include "core/command_line.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// Options and a flag that had other names once.
struct Renamed {
  Renamed() {
    line.Option("--max-ratio", ratio, "largest ratio").Range(0.1, 2.0);
    line.Renamed("--bar", "--max-ratio");
    line.Option("--loads", loads, "offered loads").SplitAt(',');
    line.Renamed("--levels", "--loads");
    line.Flag("--allow-seen", seen, "also seen workloads");
    line.Renamed("--seen", "--allow-seen");
  }

  // What is said on stderr.
  std::string Parse(std::vector<std::string> arguments) {
    testing::internal::CaptureStderr();
    line.Parse(std::move(arguments));
    return testing::internal::GetCapturedStderr();
  }

  CommandLine line;
  double ratio = 1;
  std::vector<double> loads;
  bool seen = false;
};

TEST(CommandLine, FormerNameSetsTheOption) {
  Renamed renamed;
  renamed.Parse({"--bar=0.9"});
  EXPECT_EQ(renamed.ratio, 0.9);
}

TEST(CommandLine, FormerNameKeepsTheRange) {
  Renamed renamed;
  ExpectError(ExitCode::kUsage, {"3"}, [&] { renamed.Parse({"--bar=3"}); });
}

TEST(CommandLine, FormerNameTakesLists) {
  Renamed renamed;
  renamed.Parse({"--levels=0.5,1"});
  EXPECT_EQ(renamed.loads, (std::vector<double>{0.5, 1}));
}

TEST(CommandLine, FormerNameOfAFlagSetsIt) {
  Renamed renamed;
  EXPECT_NE(renamed.Parse({"--seen"}).find("'--seen' is now '--allow-seen'"), std::string::npos);
  EXPECT_TRUE(renamed.seen);
}

TEST(CommandLine, PresentNamesAreNotNoted) {
  Renamed renamed;
  EXPECT_EQ(renamed.Parse({"--max-ratio=0.9", "--loads=1", "--allow-seen"}), "");
}

TEST(CommandLine, BothNamesAreRefused) {
  Renamed renamed;
  ExpectError(ExitCode::kUsage, {"--bar", "--max-ratio", "both"}, [&] {
    renamed.Parse({"--bar=0.9", "--max-ratio=0.8"});
  });
}

TEST(CommandLine, FormerNamesAreNotListed) {
  EXPECT_EQ(Renamed().line.LongNames(),
            (std::vector<std::string>{"max-ratio", "loads", "allow-seen"}));
}

}  // namespace
}  // namespace allot
