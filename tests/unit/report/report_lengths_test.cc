#include "report/report_lengths.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "report/figure.h"
#include "report/report.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"
#include "tests/unit/metrics/evaluation_fixture.h"

namespace allot {
namespace {

constexpr const char* kLengths =
    "asked,gpus,nominal,covered,questions\n"
    "new,all,0.1,0.05,20\nnew,all,0.9,0.8,20\nnew,2-4,0.1,0.2,10\nnew,2-4,0.9,1,10\n"
    "under way,all,0.1,0.1,7\nunder way,all,0.9,0.9,7\n";

TEST(ReportLengths, CurvesBySizeInTheOrderOfTheFile) {
  const testing_support::TempFolder folder;
  WriteTextFile((folder / "lengths.csv").string(), kLengths);
  const std::vector<LengthCurves> curves = ReadLengths(folder / "");
  ASSERT_EQ(curves.size(), 2U);
  ASSERT_EQ(curves[0].by_size.size(), 2U);
  EXPECT_EQ(curves[0].by_size[1].gpus, "2-4");
  EXPECT_EQ(curves[0].by_size[1].covered, (std::vector<double>{0.2, 1}));
  const std::vector<Figure> figures = FiguresOf({.lengths = curves.data()});
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_NE(FigureCsv(figures[0]).find("\n,all,0,0\n,all,0.1,0.05\n,all,0.9,0.8\n,all,1,1\n"),
            std::string::npos);
}

// Alone, and beside an evaluation, which keeps the headline.
TEST(ReportLengths, AreDrawnWhereTheyAre) {
  const testing_support::TempFolder folder;
  WriteTextFile((folder / "lengths.csv").string(), kLengths);
  ReportInput input;
  input.evaluation_dirs = {(folder / "").string()};
  EXPECT_NE(RenderReport(input).find("data-figure=\"lengths-0-lengths_under_way\""),
            std::string::npos);
  testing_support::WriteSmallEvaluation(folder / "", testing_support::SmallEvaluation());
  const std::string both = RenderReport(input);
  EXPECT_LT(both.find("evaluation-0"), both.find("lengths-0"));
}

TEST(ReportLengths, SharesBeyondOneAreAnErrorWithTheLine) {
  const testing_support::TempFolder folder;
  WriteTextFile((folder / "lengths.csv").string(),
                "asked,gpus,nominal,covered,questions\nnew,all,0.1,1.5,20\n");
  ExpectError(ExitCode::kBadData, {"got nominal 0.1 and covered 1.5", "lengths.csv:2"},
              [&] { ReadLengths(folder / ""); });
}

}  // namespace
}  // namespace allot
