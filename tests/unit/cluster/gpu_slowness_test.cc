#include "cluster/gpu_slowness.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

const char* const kHeader = "node,gpu,class,slowness\n";

GpuSlowness SlownessOf(const std::string& rows) {
  return *GpuSlowness::FromCsv(kHeader + rows, "s.csv", ClusterSpec::Parse("1x2,2x4"));
}

std::string ErrorOfRows(const std::string& rows) {
  return ErrorOf(ExitCode::kBadData, [&] { SlownessOf(rows); });
}

TEST(GpuSlowness, IsThatOfTheSlowestGpuOfAJob) {
  const GpuSlowness slowness = SlownessOf("1,0,conv,1.25\n2,3,conv,0.9\n");
  EXPECT_EQ(slowness.SlowestOf("conv", std::vector<NodeShare>{{1, {2}, 0b11}}), 1.25);
  EXPECT_EQ(slowness.SlowestOf("conv", std::vector<NodeShare>{{2, {1}, 0b1000}}), 0.9);
  EXPECT_EQ(slowness.SlowestOf("conv", std::vector<NodeShare>{{1, {1}, 0b10}, {2, {1}, 0b1000}}),
            1.0);
  EXPECT_EQ(slowness.SlowestOf("conv", {}), 1.0);
}

TEST(GpuSlowness, OfAClassThatIsNotGivenIsThatOfAny) {
  EXPECT_EQ(SlownessOf("0,1,any,1.5\n").SlowestOf("conv", std::vector<NodeShare>{{0, {2}, 0b11}}),
            1.5);
  EXPECT_TRUE(SlownessOf("0,1,rnn,1.5\n").Of("conv").empty());
}

TEST(GpuSlowness, IsWrittenAsItIsRead) {
  const std::string rows = "0,0,any,1\n0,1,any,1.5\n0,0,conv,1\n2,3,conv,0.1\n";
  EXPECT_EQ(SlownessOf(rows).ToCsv(), kHeader + rows);
}

TEST(GpuSlowness, RefusesGpusThatTheClusterLacks) {
  EXPECT_EQ(ErrorOfRows("0,1,a,1\n3,0,a,1\n"),
            "s.csv:3: the file is of another cluster: it names node 3, '1x2,2x4' has 3 (from 0)");
  EXPECT_EQ(ErrorOfRows("0,2,a,1\n"),
            "s.csv:2: the file is of another cluster: it names GPU 2 of node 0, which has 2 in "
            "'1x2,2x4' (from 0)");
}

TEST(GpuSlowness, RefusesBadRowsWithTheirPlace) {
  EXPECT_EQ(ErrorOfRows("0,0,a,0\n"), "s.csv:2: 'slowness' must be > 0, got 0");
  EXPECT_EQ(ErrorOfRows("0,0,a,-1\n"), "s.csv:2: 'slowness' must be > 0, got -1");
  EXPECT_EQ(ErrorOfRows("0,0,,1\n"), "s.csv:2: 'class' must name a class of programs, got ''");
  EXPECT_EQ(ErrorOfRows("0,1,a,1.1\n1,1,a,1.3\n0,1,a,1.2\n"),
            "s.csv:4: a GPU has one slowness for a class, GPU 1 of node 0 has 1.1 and 1.2 for 'a'");
}

}  // namespace
}  // namespace allot
