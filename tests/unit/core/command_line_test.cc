#include "core/command_line.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

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

  struct Outcome {
    std::optional<int> exit_code;
    std::string stdout_text;
    std::string stderr_text;
  };
  Outcome Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> argv;
    argv.reserve(arguments.size());
    for (std::string& argument : arguments) argv.push_back(argument.data());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.exit_code = line.Parse(static_cast<int>(argv.size()), argv.data());
    outcome.stdout_text = testing::internal::GetCapturedStdout();
    outcome.stderr_text = testing::internal::GetCapturedStderr();
    return outcome;
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
  const Renamed::Outcome outcome = renamed.Parse({"--bar=3"});
  EXPECT_EQ(outcome.exit_code, static_cast<int>(ExitCode::kUsage));
  EXPECT_NE(outcome.stderr_text.find('3'), std::string::npos) << outcome.stderr_text;
}

TEST(CommandLine, FormerNameTakesLists) {
  Renamed renamed;
  renamed.Parse({"--levels=0.5,1"});
  EXPECT_EQ(renamed.loads, (std::vector<double>{0.5, 1}));
}

TEST(CommandLine, FormerNameOfAFlagSetsIt) {
  Renamed renamed;
  const std::string note = renamed.Parse({"--seen"}).stderr_text;
  EXPECT_NE(note.find("'--seen' is now '--allow-seen'"), std::string::npos) << note;
  EXPECT_TRUE(renamed.seen);
}

TEST(CommandLine, PresentNamesAreNotNoted) {
  Renamed renamed;
  EXPECT_EQ(renamed.Parse({"--max-ratio=0.9", "--loads=1", "--allow-seen"}).stderr_text, "");
}

TEST(CommandLine, BothNamesAreRefused) {
  Renamed renamed;
  const Renamed::Outcome outcome = renamed.Parse({"--bar=0.9", "--max-ratio=0.8"});
  EXPECT_EQ(outcome.exit_code, static_cast<int>(ExitCode::kUsage));
  EXPECT_NE(outcome.stderr_text.find("--bar"), std::string::npos) << outcome.stderr_text;
  EXPECT_NE(outcome.stderr_text.find("both"), std::string::npos) << outcome.stderr_text;
}

TEST(CommandLine, FormerNamesAreNotInTheHelp) {
  const std::string help = Renamed().Parse({"--help"}).stdout_text;
  EXPECT_NE(help.find("--max-ratio"), std::string::npos) << help;
  EXPECT_EQ(help.find("--bar"), std::string::npos) << help;
}

}  // namespace
}  // namespace allot
