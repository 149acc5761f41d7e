#include "metrics/evaluation.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/metrics/evaluation_fixture.h"

namespace allot {
namespace {

using testing_support::SmallEvaluation;

// The message for the small evaluation after `change`.
std::string Refusal(const std::function<void(Evaluation*)>& change) {
  Evaluation evaluation = SmallEvaluation();
  change(&evaluation);
  return ErrorOf(ExitCode::kBadData, [&] { EvaluationFromJson(ToJson(evaluation), "e.json"); });
}

TEST(Evaluation, ReadsBackAsWritten) {
  const testing_support::TempFolder directory;
  WriteEvaluation(directory, SmallEvaluation());
  EXPECT_EQ(ToJson(ReadEvaluation(directory)).dump(), ToJson(SmallEvaluation()).dump());
}

TEST(Evaluation, TitleAndUnseenMayBeAbsent) {
  auto json = ToJson(SmallEvaluation());
  json.erase("title");
  json.erase("unseen");
  EXPECT_EQ(EvaluationFromJson(json, "e.json").training_overlap, TrainingOverlap::kNone);
}

TEST(Evaluation, ReferenceMustBeAPolicy) {
  EXPECT_EQ(Refusal([](Evaluation* e) { e->reference = "drf"; }),
            "e.json: 'reference' must be one of the policies (fifo, learned, srtf), got 'drf'");
}

TEST(Evaluation, EachPolicyHasOneRunPerWorkload) {
  EXPECT_EQ(Refusal([](Evaluation* e) { e->policies[1].runs.pop_back(); }),
            "e.json: policies[1]: 'runs' must hold one summary per workload (2), got 1");
}

TEST(Evaluation, NoNameTwice) {
  EXPECT_EQ(Refusal([](Evaluation* e) { e->policies[2].id = "fifo"; }),
            "e.json: each policy must appear once, got 'fifo' twice");
  EXPECT_EQ(Refusal([](Evaluation* e) { e->workloads[1].name = "week-1"; }),
            "e.json: each workload must appear once, got 'week-1' twice");
}

TEST(Evaluation, NeedsAWorkload) {
  EXPECT_EQ(Refusal([](Evaluation* e) { e->workloads.clear(); }),
            "e.json: 'workloads' must hold at least 1 entry, got 0");
}

TEST(Evaluation, RunsMayLieFlatWhenThereIsOneWorkload) {
  const testing_support::TempFolder directory;
  Evaluation evaluation = SmallEvaluation();
  evaluation.workloads.pop_back();
  EXPECT_EQ(RunDirectory(directory, evaluation, evaluation.workloads[0], evaluation.policies[0]),
            directory / "fifo");
}

TEST(Evaluation, RunsOfSeveralWorkloadsLieBelowTheirs) {
  const Evaluation evaluation = SmallEvaluation();
  EXPECT_EQ(RunDirectory("d", evaluation, evaluation.workloads[1], evaluation.policies[0]),
            std::filesystem::path("d/week-2/fifo"));
}

TEST(Evaluation, KeepsWhatIsKnownOfTheTraining) {
  for (const TrainingOverlap training_overlap :
       {TrainingOverlap::kNone, TrainingOverlap::kUnseen, TrainingOverlap::kSeen,
        TrainingOverlap::kNotKnown}) {
    Evaluation evaluation = SmallEvaluation();
    evaluation.training_overlap = training_overlap;
    EXPECT_EQ(EvaluationFromJson(ToJson(evaluation), "e.json").training_overlap, training_overlap);
  }
}

TEST(Evaluation, TextThatIsNotUtf8IsWrittenAllTheSame) {
  const testing_support::TempFolder directory;
  Evaluation evaluation = SmallEvaluation();
  evaluation.title = "w\xff";
  WriteEvaluation(directory, evaluation);
  EXPECT_EQ(ReadEvaluation(directory).title, "w\xef\xbf\xbd");
}

TEST(RemoveEvaluation, TakesItsOwnRunsAndNothingElse) {
  const testing_support::TempFolder directory;
  testing_support::WriteSmallEvaluation(directory, SmallEvaluation());
  WriteTextFile(directory / "week-1" / "notes.txt", "mine");
  RemoveEvaluation(directory);
  EXPECT_FALSE(std::filesystem::exists(directory / "evaluation.json"));
  EXPECT_FALSE(std::filesystem::exists(directory / "week-1" / "fifo"));
  EXPECT_FALSE(std::filesystem::exists(directory / "week-2")) << "empty";
  EXPECT_TRUE(std::filesystem::exists(directory / "week-1" / "notes.txt"));
  RemoveEvaluation(directory);  // nothing there: nothing to do
}

}  // namespace
}  // namespace allot
