#include "workload/quotas.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

using Quotas = std::map<std::string, GpuCount>;

std::string FaultOf(const std::string& text) {
  return ErrorOf(ExitCode::kBadData, [&] { QuotasFromCsv(text, "quotas.csv"); });
}

TEST(QuotasTest, ReadsGpusByTenant) {
  EXPECT_EQ(QuotasFromCsv("tenant,gpus\na,8\nb,0\n", ""), (Quotas{{"a", 8}, {"b", 0}}));
  EXPECT_EQ(QuotasFromCsv("\xEF\xBB\xBFtenant,gpus\na,8\n", ""), (Quotas{{"a", 8}}));
}

TEST(QuotasTest, ReadsPhillysNodesOfEightGpus) {
  EXPECT_EQ(QuotasFromCsv("vc,node num\n6214e9,64\n", ""), (Quotas{{"6214e9", 512}}));
}

TEST(QuotasTest, ReadsTheLastDayOfHelios) {
  EXPECT_EQ(QuotasFromCsv("date,vcA,vcB,total\n2020-04-01,72,64,136\n2020-04-02,80,0,80\n", ""),
            (Quotas{{"vcA", 80}, {"vcB", 0}}));
}

TEST(QuotasTest, SaysWhatIsWrongAndWhere) {
  EXPECT_NE(FaultOf("gpus,tenant\n").find("quotas.csv:1"), std::string::npos);
  EXPECT_NE(FaultOf("tenant,gpus\na,8\na,9\n").find("'a' has 8 and 9 GPUs (quotas.csv:3)"),
            std::string::npos);
  EXPECT_NE(FaultOf("tenant,gpus\na,-8\n").find("quotas.csv:2"), std::string::npos);
  EXPECT_NE(FaultOf("date,vcA,total\n2020-04-02,8,8\n2020-04-01,8,8\n").find("quotas.csv:3"),
            std::string::npos);
  EXPECT_NE(FaultOf("tenant,gpus\n").find("at least one tenant"), std::string::npos);
}

}  // namespace
}  // namespace allot
