// Decisions of Gavel's policies, solved again: on snapshots of our own.

#include "fidelity/gavel_snapshots.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

using testing_support::TempFolder;

// Two jobs of 4 and 1 steps a second on one GPU.
constexpr const char* kMaxMin = R"({"source": {"policy": "max_min_fairness_perf"},
  "gpu_types": ["k80"], "cluster": [1],
  "jobs": [{"id": 3, "job_type": "A", "scale_factor": 1, "priority_weight": 1, "throughput": [4]},
           {"id": 8, "job_type": "B", "scale_factor": 1, "priority_weight": 3, "throughput": [1]}],
  "objective": {"optimum": 0.25}})";

class GavelSnapshotsTest : public testing::Test {
 protected:
  void Write(const std::string& text) {
    std::filesystem::create_directories(folder_ + "/snapshots");
    WriteTextFile(folder_ + "/snapshots/one.json", text);
    WriteTextFile(folder_ + "/colocated_throughputs_simulation.csv",
                  "gpu_type,scale_factor,job_type_a,job_type_b,steps_per_s_a,steps_per_s_b\n"
                  "k80,1,A,B,3.0,0.75\n");
  }
  FidelityResult Run(std::string text, const std::string& from = "", const std::string& to = "") {
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    Write(text);
    const std::vector<FidelityCase> cases = GavelSnapshotCases(folder_);
    EXPECT_EQ(cases.size(), 1U);
    EXPECT_EQ(cases.at(0).name, "snapshots.one");
    return cases.at(0).run();
  }

  TempFolder temp_;
  std::string folder_ = temp_.string();
};

TEST_F(GavelSnapshotsTest, AnOptimumThatIsReachedIsEqual) {
  EXPECT_EQ(Run(kMaxMin).verdict, FidelityResult::Verdict::kEqual);
}

TEST_F(GavelSnapshotsTest, AnotherOptimumIsDifferentAndBothAreNamed) {
  const FidelityResult result = Run(kMaxMin, "0.25}", "0.2500001}");
  EXPECT_EQ(result.verdict, FidelityResult::Verdict::kDifferent);
  EXPECT_NE(result.first_difference.find("0.2500001"), std::string::npos)
      << result.first_difference;
}

TEST_F(GavelSnapshotsTest, PairsHaveTheRatesOfTheTable) {
  // Together all the time: 3/4 of either rate, against even divisions of 4 and 1.
  std::string text = kMaxMin;
  text.replace(text.find("\"priority_weight\": 3"), 20, "\"priority_weight\": 1");
  text.replace(text.find("0.25}"), 5, "0.75}");
  EXPECT_EQ(Run(text, "fairness_perf", "fairness_packed").first_difference, "");
}

TEST_F(GavelSnapshotsTest, AFolderWithoutSnapshotsHasNoCases) {
  EXPECT_TRUE(GavelSnapshotCases(folder_).empty());
}

TEST_F(GavelSnapshotsTest, RefusesWhatIsNoSnapshot) {
  const auto refused = [&](const std::vector<std::string>& parts, const std::string& from,
                           const std::string& to) {
    ExpectError(ExitCode::kBadData, parts, [&] { Run(kMaxMin, from, to); });
  };
  refused({"one.json", "cluster"}, "\"cluster\"", "\"clusters\"");
  refused({"one.json", "rate", ">= 0", "-4", "job 0"}, "[4]", "[-4]");
  refused({"one.json", "weight", "> 0", "got 0", "job 1"}, "\"priority_weight\": 3",
          "\"priority_weight\": 0");
  refused({"one.json", "'throughput'", "1 values, got 2"}, "[4]", "[4, 5]");
}

}  // namespace
}  // namespace allot
