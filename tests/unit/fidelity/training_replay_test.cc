// Pollux's runs: the part that ships, and what is said of folders that are not whole.

#include <gtest/gtest.h>

#include "fidelity/peer.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/fidelity/altered_reference.h"

namespace allot {
namespace {

constexpr const char* kReplay = "results/pollux-workload-6-seed0.replay.csv";

FidelityResult RunOf(const std::string& folder, const std::string& name) {
  for (const FidelityCase& c : Peer("pollux").cases(folder)) {
    if (c.name == name) return c.run();
  }
  ADD_FAILURE() << "no run " << name;
  return {};
}

TEST(PolluxFidelityTest, ShippedRunsAreEqual) {
  const auto cases = Peer("pollux").cases(Shipped("pollux").string());
  EXPECT_EQ(cases.size(), 3U);
  for (const FidelityCase& c : cases) {
    const FidelityResult result = c.run();
    EXPECT_GE(result.jobs, 20) << c.name;
    EXPECT_EQ(result.verdict, FidelityResult::Verdict::kEqual)
        << c.name << ": " << result.first_difference;
  }
}

TEST(PolluxFidelityTest, AJobThatRestartedOnceMoreIsNamed) {
  AlteredReference reference("pollux", "restart");
  // It keeps its batch and loses another 30 s.
  reference.Replace(kReplay, "780,deepspeech2-2,1,,4,13,0,0", "780,deepspeech2-2,1,,4,13,0,30");
  const FidelityResult result = RunOf(reference.path(), "pollux-workload-6-seed0.recorded");
  EXPECT_EQ(result.verdict, FidelityResult::Verdict::kDifferent);
  EXPECT_TRUE(result.first_difference.starts_with("job deepspeech2-2: completion 2926 at the peer"))
      << result.first_difference;
}

TEST(PolluxFidelityTest, AJctThatDiffersIsNamed) {
  AlteredReference reference("pollux", "jct");
  reference.Replace("results/published_jct_per_job.csv", "tiresias,0.5,1,60,0.0,yes,ncf-2,78",
                    "tiresias,0.5,1,60,0.0,yes,ncf-2,79");
  const FidelityResult result = RunOf(reference.path(), "load0.5-workload-1.tiresias");
  EXPECT_TRUE(result.first_difference.starts_with("job ncf-2: JCT 79 at the peer, 78 here"))
      << result.first_difference;
}

TEST(PolluxFidelityTest, FaultsOfTheFolderAreRefused) {
  struct Fault {
    const char* file;
    const char* from;
    const char* to;
    std::vector<std::string> says;
  };
  const Fault faults[] = {
      {kReplay, "60,cifar10-0,0,,1,128,0,30", "60,cifar10-0,0,,x,128,0,30", {"'placement'", ":2"}},
      {kReplay, "60,cifar10-0,0,,1,128,0,30", "900,cifar10-0,0,,1,128,0,30", {"must not fall"}},
      {kReplay, "60,cifar10-0,0,,1,128,0,30", "60,nobody-0,0,,1,128,0,30", {"each job of"}},
      {"results/pollux-workload-6-seed0.jobs.csv",
       "cifar10-0,cifar10",
       "cifar10-0,cifar11",
       {"unknown throughput profile 'cifar11'"}},
      {"results/published_jct_per_job.csv", "yes,ncf-2,", "yes,ncf-3,", {"ncf-"}},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.to);
    AlteredReference reference("pollux", "fault");
    reference.Replace(fault.file, fault.from, fault.to);
    ExpectError(ExitCode::kBadData, fault.says, [&] {
      for (const FidelityCase& c : Peer("pollux").cases(reference.path())) c.run();
    });
  }
}

}  // namespace
}  // namespace allot
