#include "metrics/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/metrics/evaluation_fixture.h"

namespace allot {
namespace {

using testing_support::RunOf;
using testing_support::SmallEvaluation;

TEST(CompareToReference, SortsByAverageJct) {
  const std::vector<PolicyRow> rows = CompareToReference(SmallEvaluation());
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "srtf (oracle)");
  EXPECT_EQ(rows[1].name, "learned");
  EXPECT_EQ(rows[2].name, "fifo");
}

TEST(CompareToReference, FiguresAreMeansOverWorkloads) {
  const PolicyRow fifo = CompareToReference(SmallEvaluation())[2];
  EXPECT_DOUBLE_EQ(fifo.avg_jct_s, 1500);
  EXPECT_DOUBLE_EQ(fifo.p95_jct_s, 4500);
  EXPECT_DOUBLE_EQ(fifo.restarts_per_job, 0.5);
}

TEST(CompareToReference, RatioIsTheGeometricMeanOfPairedRatios) {
  const PolicyRow fifo = CompareToReference(SmallEvaluation())[2];
  EXPECT_EQ(fifo.ratios, (std::vector<double>{0.5, 0.25}));
  EXPECT_DOUBLE_EQ(fifo.ratio.mean, std::sqrt(0.125));
}

TEST(CompareToReference, PoliciesWithoutResultComeLast) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.policies[2].runs = {RunOf("srtf", kUnknown), RunOf("srtf", 1)};
  EXPECT_EQ(CompareToReference(evaluation).back().name, "srtf (oracle)");
}

Evaluation WithStuckRuns(std::size_t policy, std::initializer_list<std::size_t> workloads) {
  Evaluation evaluation = SmallEvaluation();
  for (const std::size_t w : workloads) {
    RunSummary& run = evaluation.policies[policy].runs[w];
    run.avg_jct_s = kUnknown;
    run.unfinished = 1;
    run.did_not_finish = "1 jobs wait";
  }
  return evaluation;
}

TEST(CompareToReference, RatiosLeaveOutRunsThatDidNotFinish) {
  const Evaluation evaluation = WithStuckRuns(0, {1});
  const std::vector<PolicyRow> rows = CompareToReference(evaluation);
  EXPECT_EQ(rows.back().name, "fifo");
  EXPECT_DOUBLE_EQ(rows.back().ratio.mean, 0.5);
  EXPECT_EQ(rows.back().ratio.n, 1);
  EXPECT_DOUBLE_EQ(rows[0].ratio.mean, std::sqrt(500.0 / 400 * 500 / 450));
  EXPECT_EQ(StuckInWords(evaluation, rows),
            (std::vector<std::string>{
                "fifo did not finish on 1 of 2 workloads; on week-2: 1 jobs wait. Its ratio is "
                "over the 1 that it finished."}));
  const std::string table = ComparisonTable(evaluation, rows).ToText();
  EXPECT_NE(table.find("did not finish"), std::string::npos) << table;
}

TEST(CompareToReference, AReferenceThatDidNotFinishIsLeftOutOfAllRatios) {
  const Evaluation evaluation = WithStuckRuns(1, {0});
  const std::vector<PolicyRow> rows = CompareToReference(evaluation);
  EXPECT_EQ(rows[0].name, "srtf (oracle)");
  EXPECT_DOUBLE_EQ(rows[0].ratio.mean, 500.0 / 450);
  EXPECT_DOUBLE_EQ(rows[1].ratio.mean, 0.25);
}

TEST(Headline, LeavesOutPoliciesThatFinishedNothing) {
  const Evaluation one = WithStuckRuns(0, {0, 1});
  EXPECT_EQ(
      MakeHeadline(one, CompareToReference(one)).finding,
      "learned has a 17.9 % longer average JCT than srtf (oracle) (95 % interval: 44.2 % shorter "
      "to 149.1 % longer), on 2 unseen workloads.");
  const Evaluation reference = WithStuckRuns(1, {0, 1});
  EXPECT_EQ(MakeHeadline(reference, CompareToReference(reference)).finding,
            "learned did not finish on 2 unseen workloads.");
}

TEST(Headline, ComparesInPerCentWithTheStrongest) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.policies[0].runs = {RunOf("fifo", 1000), RunOf("fifo", 1001)};
  const Headline headline = MakeHeadline(evaluation, CompareToReference(evaluation));
  EXPECT_EQ(headline.finding,
            "learned has a 50.0 % shorter average JCT than fifo (95 % interval: 49.7 % to 50.3 % "
            "shorter), on 2 unseen workloads.");
  EXPECT_EQ(headline.verdict, "") << "of one opponent the interval says it all";
}

TEST(Headline, SaysPlainlyWhenTheReferenceIsSlower) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.policies[2].oracle = false;
  evaluation.policies[0].runs = {RunOf("fifo", 1000), RunOf("fifo", 1001)};
  evaluation.policies[2].runs = {RunOf("srtf", 400), RunOf("srtf", 401)};
  const Headline headline = MakeHeadline(evaluation, CompareToReference(evaluation));
  EXPECT_EQ(headline.finding,
            "learned has a 24.8 % longer average JCT than srtf, the strongest of 2 others (95 % "
            "interval: 22.9 % to 26.8 % longer), on 2 unseen workloads.");
  EXPECT_EQ(headline.verdict,
            "By the 95 % intervals, learned is faster than fifo and slower than srtf.");
}

TEST(Headline, SaysThatOraclesAreNotAmongTheOthers) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.policies.push_back(evaluation.policies[0]);
  evaluation.policies.back().id = evaluation.policies.back().label = "las";
  EXPECT_NE(MakeHeadline(evaluation, CompareToReference(evaluation))
                .finding.find("the strongest of 2 others that do not know true lengths"),
            std::string::npos);
}

TEST(ComparisonTable, SaysWhichLengthsPoliciesGet) {
  Evaluation evaluation = SmallEvaluation();
  const auto table = [&] {
    return ComparisonTable(evaluation, CompareToReference(evaluation)).ToText();
  };
  EXPECT_EQ(table().find("Job lengths"), std::string::npos);
  evaluation.policies[0].uses_lengths = true;
  evaluation.length_estimates = "noisy:0.5";
  EXPECT_NE(table().find("Job lengths that fifo gets: the true lengths with a random error "
                         "(noisy:0.5)."),
            std::string::npos)
      << table();
}

TEST(Headline, ComparesTheFastestWithTheReferenceWhereNothingWasTrained) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.training_overlap = TrainingOverlap::kNone;
  evaluation.reference = "fifo";
  const Headline headline = MakeHeadline(evaluation, CompareToReference(evaluation));
  EXPECT_EQ(headline.finding,
            "learned has a 64.6 % shorter average JCT than fifo (95 % interval: 99.6 % shorter "
            "to 28.9 times as long), on 2 workloads.");
  EXPECT_EQ(headline.verdict, "This does not show which of the two is faster.");
}

TEST(Headline, SaysWhenNoStrongRuleIsCompared) {
  Evaluation evaluation = SmallEvaluation();
  const auto missing = [&] {
    return MakeHeadline(evaluation, CompareToReference(evaluation)).missing;
  };
  EXPECT_NE(missing().find("index and srtf:sizing=hull"), std::string::npos);
  for (const char* strong : {"index", "index:alpha=1", "las:sizing=hull"}) {
    evaluation.policies[0].id = strong;
    EXPECT_EQ(missing(), "") << strong;
  }
  evaluation.policies[0].id = "indexed";
  EXPECT_NE(missing(), "");
  evaluation.training_overlap = TrainingOverlap::kNone;
  EXPECT_EQ(missing(), "") << "nothing was trained";
}

TEST(Headline, SaysWhenTheIntervalDoesNotHold) {
  const Evaluation evaluation = SmallEvaluation();
  EXPECT_EQ(MakeHeadline(evaluation, CompareToReference(evaluation)).verdict,
            "This does not show which of the two is faster.");
}

TEST(Headline, OneWorkloadProvesNothing) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.workloads.pop_back();
  for (EvaluatedPolicy& policy : evaluation.policies) policy.runs.pop_back();
  EXPECT_EQ(MakeHeadline(evaluation, CompareToReference(evaluation)).verdict,
            "One workload gives no interval: run several to know whether this holds.");
}

TEST(ComparisonTable, OneRowPerPolicyWithMarkedReference) {
  const Evaluation evaluation = SmallEvaluation();
  const std::string text = ComparisonTable(evaluation, CompareToReference(evaluation)).ToText();
  EXPECT_EQ(
      text.substr(0, text.find("  Means")),
      R"(  policy         avg JCT       learned / policy  p50 JCT  p95 JCT  p99 JCT  GPU use  restarts/job  decision p50     p99
  ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
  srtf (oracle)   7m 05s   1.179 [0.558, 2.491]   3m 33s  21m 15s  35m 25s   50.0 %          0.50       10.0 µs  200 µs
> learned         8m 20s                      1   4m 10s  25m 00s  41m 40s   50.0 %          0.50       10.0 µs  200 µs
  fifo           25m 00s  0.354 [0.004, 28.902]  12m 30s   1h 15m   2h 05m   50.0 %          0.50       10.0 µs  200 µs
)");
}

TEST(ComparisonTable, ALongReferenceDoesNotWidenItsColumn) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.policies[1].label = "learned:checkpoint=runs/train/best";
  const std::string text = ComparisonTable(evaluation, CompareToReference(evaluation)).ToText();
  EXPECT_NE(text.find("  > / policy  "), std::string::npos) << text;
}

TEST(WorkloadsInWords, SaysWhatTrainingSaw) {
  Evaluation evaluation = SmallEvaluation();
  const auto words = [&](TrainingOverlap training_overlap) {
    evaluation.training_overlap = training_overlap;
    return WorkloadsInWords(evaluation);
  };
  EXPECT_EQ(words(TrainingOverlap::kNone), "2 workloads");
  EXPECT_EQ(words(TrainingOverlap::kUnseen), "2 unseen workloads");
  EXPECT_EQ(words(TrainingOverlap::kSeen), "2 workloads seen in training");
  EXPECT_EQ(words(TrainingOverlap::kNotKnown), "2 workloads not known to be unseen");
}

TEST(ComparisonTable, EndsWithTheLowerBoundWhereAllWorkloadsHaveOne) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.workloads[0].jct_bound_s = 400;
  const auto table = [&] {
    return ComparisonTable(evaluation, CompareToReference(evaluation)).ToText();
  };
  EXPECT_EQ(table().find("lower bound"), std::string::npos);
  evaluation.workloads[1].jct_bound_s = 200;
  EXPECT_NE(table().find("  lower bound     5m 00s  1.768 [0.022, 144.510]        -"),
            std::string::npos)
      << table();
}

TEST(ComparisonTable, SaysHowManyJobsAreUnfinished) {
  Evaluation evaluation = SmallEvaluation();
  evaluation.policies[0].runs[0].unfinished = 3;
  EXPECT_NE(ComparisonTable(evaluation, CompareToReference(evaluation))
                .ToText()
                .find("fifo: 3 of 20 jobs unfinished"),
            std::string::npos);
}

}  // namespace
}  // namespace allot
