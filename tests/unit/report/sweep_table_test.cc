// A sweep boiled down, with figures worked out by hand.

#include "metrics/sweep_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "report/report_sweep.h"

namespace allot {
namespace {

SweepCell CellOf(const std::string& load, const std::string& seed, const std::string& policy,
                 double avg_jct_s) {
  SweepCell cell;
  cell.values = {load, seed, policy};
  cell.workload = "w";
  cell.load = 0.5;
  cell.end_s = 900;
  cell.summary.policy = policy;
  cell.summary.jobs = 4;
  cell.summary.avg_jct_s = avg_jct_s;
  cell.summary.preemptions = 2;
  cell.summary.cpu_s = 0.25;
  return cell;
}

// Policy b takes 1/2 and 1/4 of a's time at load 1, the same at load 2.
SweepResults TwoByTwo() {
  SweepResults results;
  results.title = "two by two";
  results.command = "allot sweep";
  results.factors = {"load", "seed", "policy"};
  results.reference = {{"policy", "a"}};
  results.cells = {CellOf("1", "0", "a", 100), CellOf("1", "0", "b", 50),
                   CellOf("1", "1", "a", 200), CellOf("1", "1", "b", 50),
                   CellOf("2", "0", "a", 300), CellOf("2", "0", "b", 300),
                   CellOf("2", "1", "a", 300), CellOf("2", "1", "b", 300)};
  return results;
}

TEST(SweepTable, HasARowForAllButTheSeed) {
  const std::vector<SweepRow> rows = Aggregate(TwoByTwo());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].values, (std::vector<std::string>{"1", "", "b"}));
  EXPECT_EQ(rows[1].seeds, 2);
  EXPECT_EQ(rows[1].jobs, 8);
  EXPECT_DOUBLE_EQ(rows[1].preemptions_per_job, 0.5);
}

TEST(SweepTable, LossesAreOverAllSeedsAndShownWhereThereAreAny) {
  SweepResults results = TwoByTwo();
  EXPECT_TRUE(std::isnan(Aggregate(results)[0].redone_share));
  EXPECT_EQ(SweepTableCsv(results, Aggregate(results)).find("shortage"), std::string::npos);
  for (const std::size_t cell : {0, 2}) {  // policy a at load 1
    RunSummary& run = results.cells[cell].summary;
    run.gpu_seconds = 1000;
    run.lost = {.redone = 30, .restarts = 10};
    run.evictions = 1;
    run.lending = {.demand = 100.0 + 200 * static_cast<double>(cell), .shortage = 0.1};
  }
  results.cells[2].summary.lending->shortage = 0;
  const SweepRow row = Aggregate(results)[0];
  EXPECT_DOUBLE_EQ(row.redone_share, 0.03);
  EXPECT_DOUBLE_EQ(row.lost_share, 0.04);
  EXPECT_DOUBLE_EQ(row.evictions_per_job, 0.25);
  EXPECT_DOUBLE_EQ(row.shortage, 0.1 * 100 / 600);
  EXPECT_NE(SweepTableCsv(results, Aggregate(results)).find(",shortage"), std::string::npos);
}

// Student's t for one degree of freedom at 95 % is 12.706.
// Of two seeds 100 apart, an interval of the times themselves would begin far below 0.
TEST(SweepTable, MeansHaveStudentIntervalsOnTheirLogarithms) {
  const SweepRow row = Aggregate(TwoByTwo())[0];
  EXPECT_DOUBLE_EQ(row.avg_jct_s.mean, 150);
  EXPECT_NEAR(std::log(row.avg_jct_s.high / row.avg_jct_s.mean), 12.706 * 50 / 150, 1e-3);
  EXPECT_NEAR(std::log(row.avg_jct_s.mean / row.avg_jct_s.low), 12.706 * 50 / 150, 1e-3);
}

TEST(SweepTable, RatiosArePairedBySeed) {
  const std::vector<SweepRow> rows = Aggregate(TwoByTwo());
  EXPECT_TRUE(rows[0].reference);
  EXPECT_DOUBLE_EQ(rows[1].ratio.mean, std::sqrt(8)) << "of 100/50 and 200/50";
  EXPECT_DOUBLE_EQ(rows[3].ratio.mean, 1);
}

TEST(SweepTable, ReferenceMayBeOfAnyFactor) {
  SweepResults results = TwoByTwo();
  results.reference = {{"load", "1"}};
  EXPECT_DOUBLE_EQ(Aggregate(results)[3].ratio.mean, 50.0 / 300);
}

TEST(SweepResults, ReadBackWithoutTimings) {
  const SweepResults results = TwoByTwo();
  const auto json = ToJson(results);
  EXPECT_EQ(ToJson(SweepResultsFromJson(json, "test")), json);
  EXPECT_TRUE(json["cells"][0]["summary"]["cpu_s"].is_null());
}

TEST(SweepResults, CsvHasALineForEachCell) {
  const std::string csv = SweepCellsCsv(TwoByTwo());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 9);
  EXPECT_NE(csv.find("\n1,1,b,w,0.5,4,0,50,"), std::string::npos) << csv;
}

TEST(SweepResults, RefuseACellOfOtherFactors) {
  const auto json = ToJson(TwoByTwo().cells[0], {"load", "seed", "policy"});
  EXPECT_THROW(SweepCellFromJson(json, {"load", "policy"}, "test"), Error);
}

TEST(SweepCurves, ACurveForEachPolicyAlongTheLoad) {
  const SweepResults results = TwoByTwo();
  const std::vector<SweepRow> rows = Aggregate(results);
  const SweepCurves curves = CurvesOf(results, rows);
  EXPECT_EQ(curves.along, "load");
  ASSERT_EQ(curves.curves.size(), 2U);
  EXPECT_EQ(curves.curves[1].name, "b");
  EXPECT_EQ(curves.curves[1].points[1].second->avg_jct_s.mean, 300);
}

TEST(SweepOpening, EscapesNames) {
  SweepResults results = TwoByTwo();
  results.title = "<script>";
  EXPECT_EQ(SweepOpening(results, 0).find("<script>"), std::string::npos);
}

}  // namespace
}  // namespace allot
