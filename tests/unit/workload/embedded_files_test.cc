// The excerpt that ships with the program: its size, span and what reading leaves out. The figures
// were counted independently, from the joined Philly table.

#include "workload/embedded_files.h"

#include "trace_testing.h"
#include "workload/calendar.h"

namespace allot {
namespace {

TEST(EmbeddedFiles, HoldsFourWeeksOfPhilly) {
  ReadReport report;
  const Workload workload = ReadTrace("embedded", "auto", {}, &report);
  EXPECT_EQ(report.format, "philly-joined");
  EXPECT_EQ(report.rows, 30258);
  ASSERT_EQ(report.drops.size(), 1u);
  EXPECT_EQ(report.drops[0].rows, 2);
  EXPECT_EQ(workload.jobs.size(), 30256u);
  EXPECT_EQ(workload.GpuSeconds(), 4232877153.0);
  EXPECT_EQ(workload.origin, "2017-10-30 00:01:45");
  EXPECT_EQ(workload.Span(), 8987114 - 6568485);
  EXPECT_LT(workload.Span(), ParseWhen(workload, "2017-11-27"));
}

TEST(EmbeddedFiles, DoesNotTellTheOutcomeByTenant) {
  EXPECT_EQ(ReadTrace("embedded").tenants.size(), 0u);
}

TEST(EmbeddedFiles, IsUnderOneMegabyte) {
  EXPECT_LT(FindEmbeddedTrace("embedded")->gzip.size(), 1'000'000u);
}

}  // namespace
}  // namespace allot
