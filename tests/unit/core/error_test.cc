#include "core/error.h"

#include <gtest/gtest.h>

#include "core/check.h"

namespace allot {
namespace {

TEST(Error, MakersCarryTheExitCodesOfTheManual) {
  EXPECT_EQ(static_cast<int>(RunError("x").code()), 1);
  EXPECT_EQ(static_cast<int>(UsageError("x").code()), 2);
  EXPECT_EQ(static_cast<int>(DataError("x").code()), 3);
  EXPECT_EQ(static_cast<int>(CheckError("x").code()), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::kInterrupted), 130);
}

TEST(Error, FormatsItsArguments) {
  EXPECT_STREQ(DataError("'{}' must be >= {}, got {}", "gpus", 1, 0).what(),
               "'gpus' must be >= 1, got 0");
}

TEST(Status, RefusalKeepsItsReason) {
  EXPECT_TRUE(Status::Ok().ok());
  const Status refused = Status::Refused("{} GPUs asked, {} free", 8, 4);
  EXPECT_FALSE(refused.ok());
  EXPECT_EQ(refused.message(), "8 GPUs asked, 4 free");
}

TEST(Check, FailureShowsExpressionValuesAndPlace) {
  const int used = 5;
  try {
    ALLOT_CHECK_LE(used, 4);
    FAIL() << "5 <= 4 passed";
  } catch (const std::logic_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("used <= 4 (5 vs 4)"), std::string::npos) << message;
    EXPECT_NE(message.find("error_test.cc:"), std::string::npos) << message;
  }
}

TEST(Check, PassesQuietly) {
  EXPECT_NO_THROW(ALLOT_CHECK(1 < 2));
  EXPECT_NO_THROW(ALLOT_CHECK_EQ(2, 2));
}

}  // namespace
}  // namespace allot
