// The peers' own results, job by job: the part that ships in tests/reference, and the whole folders
// where the checkout has them beside it.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "fidelity/peer.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/fidelity/altered_reference.h"

namespace allot {
namespace {

namespace fs = std::filesystem;

// Every case equal; `least` guards against a folder that silently lost its cases.
void ExpectEqualRuns(const std::string& peer, const fs::path& folder, std::size_t least) {
  const auto cases = Peer(peer).cases(folder.string());
  EXPECT_GE(cases.size(), least) << folder;
  for (const FidelityCase& c : cases) {
    const FidelityResult result = c.run();
    EXPECT_GT(result.jobs, 0) << c.name;
    EXPECT_NE(result.verdict, FidelityResult::Verdict::kDifferent)
        << c.name << ": " << result.first_difference;
  }
}

class ReferenceTest : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceTest, ShippedRunsAreEqual) { ExpectEqualRuns(GetParam(), Shipped(GetParam()), 8); }

INSTANTIATE_TEST_SUITE_P(Peers, ReferenceTest, testing::Values("blox", "dl2"),
                         [](const auto& peer) { return peer.param; });

TEST(GavelFidelityTest, ShippedRunsAreEqual) { ExpectEqualRuns("gavel", Shipped("gavel"), 3); }

TEST(PalFidelityTest, ShippedRunsAreEqual) { ExpectEqualRuns("pal", Shipped("pal"), 2); }

TEST(PalFidelityTest, AllRunsAreEqual) {
  const fs::path folder = fs::path(ALLOT_SOURCE_DIR).parent_path() / "shared/reference/pal";
  if (!fs::exists(folder)) GTEST_SKIP() << "needs ../shared/reference/pal";
  ExpectEqualRuns("pal", folder, 18);
}

TEST(PalFidelityTest, FaultsOfTheFolderAreRefused) {
  const auto refused = [](const std::string& name, const std::vector<std::string>& parts,
                          const std::string& file, const std::string& from, const std::string& to) {
    AlteredReference reference("pal", name);
    reference.Replace("runs/w1-srtf-pal/" + file, from, to);
    ExpectError(ExitCode::kBadData, parts, [&] { reference.RunAll(); });
  };
  refused("placement", {"run.json", "'placement' must be one of", "'PAL2'"}, "run.json", "\"PAL\"",
          "\"PAL2\"");
  refused("finished", {"run.json", "'mean_jct_s' must be a number from"}, "run.json",
          "\"finished\": 60", "\"finished\": 59");
  refused("end", {"run.json", "'mean_jct_s' must be a number from 308"}, "jobs.csv", ",360,1080",
          ",360,1440");
  refused("lost-gpu", {"gpus.csv:3", "'gpu'", "got '2'"}, "gpus.csv", "\n1,0,", "\n2,0,");
  refused("class", {"jobs.csv:2", "'class' must be one of classA", "'classE'"}, "jobs.csv",
          "classC", "classE");
}

// The result of the run of this name after the change.
FidelityResult GavelRunOf(const AlteredReference& reference, const std::string& name) {
  for (const FidelityCase& c : Peer("gavel").cases(reference.path())) {
    if (c.name == name) return c.run();
  }
  ADD_FAILURE() << "no run " << name;
  return {};
}

TEST(GavelFidelityTest, AJctThatDiffersInItsLastDigitIsNamed) {
  AlteredReference reference("gavel", "last-digit");
  reference.Replace("results/static_single__isolated.jct.csv", "\n0,0.0,17240.434741164456",
                    "\n0,0.0,17240.43474116446");
  const FidelityResult result = GavelRunOf(reference, "static_single.isolated");
  EXPECT_EQ(result.verdict, FidelityResult::Verdict::kDifferent);
  EXPECT_TRUE(result.first_difference.starts_with("job 0: JCT 17240.43474116446 at the peer"))
      << result.first_difference;
}

TEST(GavelFidelityTest, AFigureOfTheSummaryThatDiffersIsNamed) {
  AlteredReference reference("gavel", "rounds");
  reference.Replace("results/summary.csv", ",1827,", ",1828,");
  EXPECT_EQ(GavelRunOf(reference, "static_single.gandiva.recorded").first_difference,
            "rounds: 1828 at the peer, 1827 here");
}

TEST(GavelFidelityTest, APlacementThatDiffersIsNamed) {
  AlteredReference reference("gavel", "worker");
  const std::string packed = "replay/static_single__gandiva.rounds.csv.gz";
  const std::string text = ReadTextFile((fs::path(reference.path()) / packed).string());
  reference.Remove(packed);
  WriteTextFile(fs::path(reference.path()) / "replay/static_single__gandiva.rounds.csv",
                text.substr(0, text.rfind(',')) + ",17\n");
  const std::string difference =
      GavelRunOf(reference, "static_single.gandiva.recorded").first_difference;
  EXPECT_TRUE(difference.starts_with("row ")) << difference;
}

TEST(GavelFidelityTest, FaultsOfTheFolderAreRefused) {
  const auto refused = [](const std::string& name, const std::vector<std::string>& parts,
                          const std::function<void(AlteredReference*)>& alter) {
    AlteredReference reference("gavel", name);
    alter(&reference);
    ExpectError(ExitCode::kBadData, parts, [&] { reference.RunAll(); });
  };
  refused("lost-row", {"static_single__gandiva.jct.csv", "'3'"}, [](AlteredReference* r) {
    r->KeepLines("results/static_single__gandiva.jct.csv",
                 [](int line, std::string_view) { return line == 5 ? 0 : 1; });
  });
  refused("policy", {"summary.csv", "gandive", "gandiva"},
          [](AlteredReference* r) { r->Replace("results/summary.csv", "gandiva", "gandive"); });
  refused("recording", {"static_single__max_min_fairness.alloc.csv", "summary.csv"},
          [](AlteredReference* r) {
            r->KeepLines("results/summary.csv", [](int, std::string_view line) {
              return line.find("max_min") == std::string_view::npos ? 1 : 0;
            });
          });
  refused("cluster", {"6:6"},
          [](AlteredReference* r) { r->Replace("results/summary.csv", "6:6:6", "6:6"); });
  refused("steps", {"static_single.csv:2", "total_steps"}, [](AlteredReference* r) {
    r->Replace("workloads/static_single.csv", "1,158770,", "1,0,");
  });
  refused("weight", {"static_single.csv:2", "'priority_weight' must be > 0, got 0"},
          [](AlteredReference* r) {
            r->Replace("workloads/static_single.csv", "1,158770,1.0,", "1,158770,0,");
          });
  const char* const shares = "replay/static_single__max_min_fairness.alloc.csv.gz";
  refused("share", {"alloc.csv", ":2", "'x' is a time share from 0 to 1, got 1.5"},
          [&](AlteredReference* r) { r->Replace(shares, "k80,0.09375000000123047", "k80,1.5"); });
  refused("shares", {"alloc.csv", ":4", "the shares of a job are at most 1 together", "job '0'"},
          [&](AlteredReference* r) { r->Replace(shares, "k80,0.09375000000123047", "k80,0.9"); });
}

TEST(BloxFidelityTest, AJobThatEndsOneRoundLaterIsNamed) {
  AlteredReference reference("blox", "round-later");
  reference.Replace("results/w1.Fifo.scattered-repaired.accept-all.jobs.csv", "0,271,300,46500,",
                    "0,271,300,46800,");
  for (const FidelityCase& c : Peer("blox").cases(reference.path())) {
    if (c.name != "w1.Fifo.scattered-repaired.accept-all") continue;
    const FidelityResult result = c.run();
    EXPECT_EQ(result.verdict, FidelityResult::Verdict::kDifferent);
    EXPECT_EQ(result.first_difference, "job 0: finish 46800 at the peer, 46500 here (at 46800 s)");
    return;
  }
  FAIL() << "the altered run is not among the cases";
}

TEST(BloxFidelityTest, ARowThatContradictsItselfDiffers) {
  AlteredReference reference("blox", "contradiction");
  reference.Replace("results/w1.Fifo.scattered-repaired.accept-all.jobs.csv",
                    "0,271,300,46500,46229,", "0,271,300,46500,46299,");
  reference.Replace("results/w2.Las.scattered.admit-1.2.jobs.csv", "0,1906,2100,", "0,1907,2100,");
  std::vector<std::string> differences;
  for (const FidelityCase& c : Peer("blox").cases(reference.path())) {
    const std::string difference = c.run().first_difference;
    if (difference.starts_with("job 0: ")) differences.push_back(difference);
  }
  EXPECT_EQ(differences, (std::vector<std::string>{
                             "job 0: JCT 46299 at the peer, 46229 here (at 46500 s)",
                             "job 0: submission 1907 at the peer, 1906 here (at 4200 s)"}));
}

TEST(Dl2FidelityTest, ACompletionThatContradictsTheJctDiffers) {
  AlteredReference reference("dl2", "contradiction");
  reference.Replace("results/small_s1.jobs.csv", "9.47909051996661,9.47909051996661",
                    "9.57909051996661,9.47909051996661");
  for (const FidelityCase& c : Peer("dl2").cases(reference.path())) {
    if (c.name == "small_s1.FIFO") {
      EXPECT_TRUE(c.run().first_difference.starts_with("job 1: completion in slots 9.57909"));
      return;
    }
  }
  FAIL() << "the altered run is not among the cases";
}

TEST(BloxFidelityTest, TheShippedSearchForSeveralGpusIsNotRebuilt) {
  for (const FidelityCase& c : Peer("blox").cases(Shipped("blox").string())) {
    if (c.name != "w1.Fifo.scattered.accept-all") continue;
    EXPECT_EQ(c.run().verdict, FidelityResult::Verdict::kNotRebuilt);
    return;
  }
  FAIL() << "the run is not among the cases";
}

TEST(BloxFidelityTest, AFolderWithoutResultsIsRefused) {
  ExpectError(ExitCode::kBadData, {"results", "tests"},
              [] { Peer("blox").cases((fs::path(ALLOT_SOURCE_DIR) / "tests").string()); });
}

TEST(Dl2FidelityTest, ATypeWithoutSpeedsIsRefused) {
  AlteredReference reference("dl2", "no-speeds");
  reference.Replace("workloads/small_s1.jobs.csv", "\n1,5,", "\n1,77,");
  ExpectError(ExitCode::kBadData, {"small_s1.jobs.csv:2", "type 77"},
              [&] { Peer("dl2").cases(reference.path()); });
}

}  // namespace
}  // namespace allot
