#include "sim/service_load.h"

#include <gtest/gtest.h>

#include "core/file.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

constexpr Seconds kWeekSeconds = 7 * 86400.0;

TEST(WeeklyServices, FollowTheSeedAndNotTheHorizon) {
  const ServiceSpan span{.gpus = 512, .last_submit = 0, .horizon = kWeekSeconds, .seed = 3};
  ServiceSpan longer = span;
  longer.horizon *= 2;
  ServiceSpan other = span;
  other.seed = 4;
  const ServiceLoad load = MakeServiceLoad("weekly", span);
  EXPECT_EQ(load.history(), 4 * kWeekSeconds);
  EXPECT_EQ(load.History(), MakeServiceLoad("weekly", longer).History());
  EXPECT_EQ(load.At(kWeekSeconds - 1), MakeServiceLoad("weekly", longer).At(kWeekSeconds - 1));
  EXPECT_NE(load.History(), MakeServiceLoad("weekly", other).History());
}

// Both services together: nights have a third of the highest hour, weekends less than half of
// working days.
TEST(WeeklyServices, HaveDaysAndWeeks) {
  const ServiceLoad load = MakeServiceLoad("weekly:days=0,noise=0,surges=0",
                                           {.gpus = 1000, .horizon = kWeekSeconds, .seed = 1});
  const auto mean = [&](Seconds from, Seconds to) {
    double sum = 0;
    for (Seconds time = from; time < to; time += ServiceLoad::kStep) sum += load.At(time);
    return sum / ((to - from) / ServiceLoad::kStep);
  };
  EXPECT_NEAR(mean(86400 + 19 * 3600, 86400 + 20 * 3600), 910, 20) << "Tuesday, 19:00: the peak";
  EXPECT_NEAR(mean(2 * 86400 + 3 * 3600, 2 * 86400 + 6 * 3600), 320, 30) << "Wednesday, 3:00";
  EXPECT_LT(mean(5 * 86400, 7 * 86400), 0.5 * mean(0, 5 * 86400));
}

TEST(ServiceLoads, ThePastRepeatsAfterTheEnd) {
  const ServiceLoad load({1, 2, 3, 4}, 1);
  EXPECT_EQ(load.At(-1), 1);
  EXPECT_EQ(load.At(0), 2);
  EXPECT_EQ(load.At(899), 4);
  EXPECT_EQ(load.At(900), 1);
  EXPECT_EQ(load.At(1200), 2);
}

class RecordedServices : public testing::Test {
 protected:
  std::string Spec(const std::string& rows, const std::string& more = "") {
    WriteTextFile(path_, "time_s,gpus\n" + rows);
    return "trace:file=" + path_ + more;
  }

  const testing_support::TempFolder folder_;
  const std::string path_ = (folder_ / "load.csv").string();
};

TEST_F(RecordedServices, AreInForceUntilTheNextRow) {
  const ServiceLoad load = MakeServiceLoad(Spec("0,5\n900,2\n1000,7\n1900,1\n", ",begin=600"),
                                           {.gpus = 8, .last_submit = 1000});
  EXPECT_EQ(load.history(), 600);
  EXPECT_EQ(load.At(-600), 5);
  EXPECT_EQ(load.At(299), 5);
  EXPECT_EQ(load.At(300), 7) << "of a step the highest value counts";
  EXPECT_EQ(load.At(900), 7);
  EXPECT_EQ(load.At(1200), 7) << "the step of the last row";
}

TEST_F(RecordedServices, BadInputNamesRuleValueAndPlace) {
  const ServiceSpan span{.gpus = 8, .last_submit = 1000};
  ExpectError(ExitCode::kBadData, {":3", "until the last job is submitted", "1000 s", "at 500 s"},
              [&] { MakeServiceLoad(Spec("0,5\n500,3\n"), span); });
  ExpectError(ExitCode::kBadData, {":2", "begin=60 s", "at 100 s"},
              [&] { MakeServiceLoad(Spec("100,5\n2000,3\n", ",begin=60"), span); });
  ExpectError(ExitCode::kBadData, {":3", "'gpus'", "0 to the 8", "got 9"},
              [&] { MakeServiceLoad(Spec("0,5\n500,9\n"), span); });
  ExpectError(ExitCode::kBadData, {":3", "'gpus'", "got -1"},
              [&] { MakeServiceLoad(Spec("0,5\n500,-1\n"), span); });
  ExpectError(ExitCode::kBadData, {":3", "ascend", "0 follows 0"},
              [&] { MakeServiceLoad(Spec("0,5\n0,3\n"), span); });
  ExpectError(ExitCode::kBadData, {"must have a row"}, [&] { MakeServiceLoad(Spec(""), span); });
  ExpectError(ExitCode::kUsage, {"law of services", "'weakly'", "weekly"},
              [&] { MakeServiceLoad("weakly", span); });
  ExpectError(ExitCode::kUsage, {"'peak'", "2"}, [&] { MakeServiceLoad("weekly:peak=2", span); });
}

}  // namespace
}  // namespace allot
