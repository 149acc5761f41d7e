#include "sim/fault_law.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

constexpr Seconds kDay = 86400;

TEST(FaultLaws, OutagesAreAscendingAndDisjoint) {
  for (const char* spec : {"exponential:between=2d,repair=1d", "renewal:rate=50",
                           "lemons:rate=50,shape=0.3", "spot:between=1d", "eaters:between=2d"}) {
    const auto law = MakeFaultLaw(spec);
    for (std::uint64_t node = 0; node < 20; ++node) {
      Seconds up = 0;
      for (const Outage& outage : law->OutagesOf(node, 300 * kDay, 3)) {
        EXPECT_GE(outage.down, up) << spec;
        EXPECT_GT(outage.up, outage.down) << spec;
        EXPECT_LT(outage.down, 300 * kDay) << spec;
        up = outage.up;
      }
    }
  }
}

TEST(FaultLaws, RatesAreThoseOfTheLongRun) {
  for (const char* spec : {"exponential:between=20d,repair=1d", "renewal:rate=5", "lemons:rate=5",
                           "spot:between=20d", "eaters:between=20d"}) {
    const auto law = MakeFaultLaw(spec);
    double failures = 0;
    Seconds up = 0;
    for (std::uint64_t node = 0; node < 2000; ++node) {
      Seconds last = 0;
      for (const Outage& outage : law->OutagesOf(node, 349 * kDay / 5, 1)) {
        ++failures;
        up += outage.down - last;
        last = outage.up;
      }
      up += std::max(0.0, 349 * kDay / 5 - last);
    }
    EXPECT_NEAR(failures / up / law->rate(), 1, 0.07) << spec;
  }
}

TEST(FaultLaws, BadSpecsNameTheRuleAndTheValue) {
  ExpectError(ExitCode::kUsage, {"unknown fault law 'renewel'", "renewal"},
              [] { MakeFaultLaw("renewel"); });
  ExpectError(ExitCode::kUsage, {"'rate'", "-1"}, [] { MakeFaultLaw("renewal:rate=-1"); });
  ExpectError(ExitCode::kUsage, {"'rate'", "-1"}, [] { MakeFaultLaw("lemons:rate=-1"); });
  ExpectError(ExitCode::kUsage, {"'notice'", "-1"}, [] { MakeFaultLaw("spot:notice=-1"); });
}

TEST(FaultLaws, ARateOfZeroHasNoFailure) {
  for (const char* spec : {"renewal:rate=0", "lemons:rate=0"}) {
    EXPECT_EQ(MakeFaultLaw(spec)->rate(), 0) << spec;
    EXPECT_TRUE(MakeFaultLaw(spec)->OutagesOf(1, 1e9, 1).empty()) << spec;
  }
}

// The trace has 582 failures of 400 servers in 349 days, 276 in 1,000 node-days within a day of a
// repair, and counts of its halves that do not correlate (-0.02).
TEST(FaultLaws, RenewalLooksLikeTheTraceThatItIsFittedTo) {
  const auto law = MakeFaultLaw("renewal");
  double failures = 0;
  double young = 0;
  double young_days = 0;
  std::vector<double> first;
  std::vector<double> second;
  constexpr int kDraws = 60;
  for (int draw = 0; draw < kDraws; ++draw) {
    for (std::uint64_t node = 0; node < 400; ++node) {
      double last = -1;
      double before = 0;
      double after = 0;
      for (const Outage& outage :
           law->OutagesOf(node, 349 * kDay, static_cast<std::uint64_t>(draw))) {
        const double down = outage.down / kDay;
        ++failures;
        before += down < 160;
        after += down >= 190;
        if (last >= 0) {
          young += down - last < 1;
          young_days += std::min(1.0, down - last);
        }
        last = outage.up / kDay;
      }
      if (last >= 0) young_days += std::clamp(349 - last, 0.0, 1.0);
      first.push_back(before);
      second.push_back(after);
    }
  }
  EXPECT_GE(failures / kDraws, 535);
  EXPECT_LE(failures / kDraws, 660);
  EXPECT_GE(1000 * young / young_days, 220);
  EXPECT_LE(1000 * young / young_days, 345);
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  double covariance = 0;
  double of_first = 0;
  double of_second = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double a = first[i] - mean(first);
    const double b = second[i] - mean(second);
    covariance += a * b;
    of_first += a * a;
    of_second += b * b;
  }
  EXPECT_NEAR(covariance / std::sqrt(of_first * of_second), 0, 0.11);
}

class RecordedFaults : public testing::Test {
 protected:
  std::string Spec(const std::string& rows, const std::string& more = "") {
    WriteTextFile(path_, "node,down_day,up_day,class\n" + rows);
    return "trace:file=" + path_ + ",nodes=4" + more;
  }

  const testing_support::TempFolder folder_;
  const std::string path_ = (folder_ / "outages.csv").string();
};

TEST_F(RecordedFaults, ArePlayedAsTheyWereAndThenAgain) {
  const auto law = MakeFaultLaw(Spec("0,1,2,GPU\n1,2,10,NIC\n0,4,5,GPU\n", ",sample=false"));
  const std::vector<Outage> expected = {
      {1 * kDay, 2 * kDay}, {4 * kDay, 5 * kDay}, {11 * kDay, 12 * kDay}};
  EXPECT_EQ(law->OutagesOf(0, 12 * kDay, 1), expected);
  EXPECT_TRUE(law->OutagesOf(2, 12 * kDay, 1).empty()) << "a server without a row";
  EXPECT_DOUBLE_EQ(law->rate(), 3 / (40 * kDay - 10 * kDay));
}

TEST_F(RecordedFaults, OverlapsAreJoinedAndEmptyOnesLeftOut) {
  const auto law =
      MakeFaultLaw(Spec("0,1,3,GPU\n0,2,4,GPU\n0,6,6,GPU\n0,7,9,GPU\n", ",sample=false"));
  const std::vector<Outage> expected = {{1 * kDay, 4 * kDay}, {7 * kDay, 9 * kDay}};
  EXPECT_EQ(law->OutagesOf(0, 9 * kDay, 1), expected);
}

TEST_F(RecordedFaults, SampledNodesBeginOnTheSameDay) {
  const auto law = MakeFaultLaw(Spec("0,1,2,GPU\n1,1,2,GPU\n2,1,2,GPU\n3,1,2,GPU\n3,9,10,GPU\n"));
  const auto begin = [&](std::uint64_t node) { return law->OutagesOf(node, 10 * kDay, 7).front(); };
  EXPECT_EQ(begin(0), begin(1));
}

TEST_F(RecordedFaults, WithANoticeTheyAreRecalls) {
  EXPECT_EQ(MakeFaultLaw(Spec("0,1,2,GPU\n", ",notice=2min"))->notice(), 120);
  EXPECT_FALSE(MakeFaultLaw(Spec("0,1,2,GPU\n"))->notice().has_value());
}

TEST_F(RecordedFaults, ARecordOfOtherNodesIsRefused) {
  const auto law = MakeFaultLaw(Spec("2,1,2,GPU\n3,1,2,GPU\n", ",sample=false"));
  law->CheckNodes(3);
  ExpectError(ExitCode::kBadData, {"outages.csv", "from 0 to 1", "none below 2"},
              [&] { law->CheckNodes(2); });
  MakeFaultLaw(Spec("2,1,2,GPU\n"))->CheckNodes(1);
}

TEST_F(RecordedFaults, BadInputNamesRuleValueAndPlace) {
  ExpectError(ExitCode::kBadData, {":2", "below nodes=4", "got 4"},
              [&] { MakeFaultLaw(Spec("4,1,2,GPU\n")); });
  ExpectError(ExitCode::kBadData, {":2", "down_day <= up_day", "3 and 2"},
              [&] { MakeFaultLaw(Spec("0,3,2,GPU\n")); });
  ExpectError(ExitCode::kBadData, {":3", "ascend", "1 follows 2"},
              [&] { MakeFaultLaw(Spec("0,2,3,GPU\n0,1,2,GPU\n")); });
  ExpectError(ExitCode::kBadData, {"must have a row"}, [&] { MakeFaultLaw(Spec("")); });
}

TEST(FaultLaws, BadParametersNameRuleAndValue) {
  ExpectError(ExitCode::kUsage, {"unknown fault law 'renewel'", "renewal"},
              [] { MakeFaultLaw("renewel"); });
  ExpectError(ExitCode::kUsage, {"'between'", "a time like", "'3 moons'"},
              [] { MakeFaultLaw("exponential:between=3 moons"); });
  ExpectError(ExitCode::kUsage, {"'rate' must be in [0", "-1"},
              [] { MakeFaultLaw("renewal:rate=-1"); });
}

}  // namespace
}  // namespace allot
