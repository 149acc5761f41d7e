#include "core/params.h"

#include <gtest/gtest.h>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

Params Las(const std::map<std::string, std::string>& given) {
  return Params("las",
                {{"queues", "3600|36000", "service limits of the queues"},
                 {"promote", "8", "rounds until promotion", 1, 100},
                 {"backfill", "yes", "fill holes"}},
                given);
}

TEST(Params, DefaultsHoldUntilOverwritten) {
  EXPECT_EQ(Las({}).Integer("promote"), 8);
  EXPECT_EQ(Las({{"promote", "9"}}).Integer("promote"), 9);
}

TEST(Params, UnknownKeyNamesOwnerAndNearestKey) {
  ExpectError(ExitCode::kUsage, {"las", "'backfil'", "did you mean 'backfill'"}, [] {
    Las({{"backfil", "true"}});
  });
}

TEST(Params, NumberOutOfRangeShowsRangeAndValue) {
  ExpectError(ExitCode::kUsage, {"'promote'", "[1, 100]", "got 0"}, [] {
    Las({{"promote", "0"}}).Number("promote");
  });
}

TEST(Params, NumberMustBeOne) {
  ExpectError(ExitCode::kUsage, {"'promote'", "'often'"}, [] {
    Las({{"promote", "often"}}).Number("promote");
  });
}

TEST(Params, IntegerRefusesFractions) {
  ExpectError(ExitCode::kUsage, {"'promote'", "integer", "2.5"}, [] {
    Las({{"promote", "2.5"}}).Integer("promote");
  });
}

TEST(Params, FlagReadsThreeSpellings) {
  for (const char* text : {"true", "1", "yes"}) {
    EXPECT_TRUE(Las({{"backfill", text}}).Flag("backfill")) << text;
  }
  for (const char* text : {"false", "0", "no"}) {
    EXPECT_FALSE(Las({{"backfill", text}}).Flag("backfill")) << text;
  }
  ExpectError(ExitCode::kUsage, {"'backfill'", "'maybe'"}, [] {
    Las({{"backfill", "maybe"}}).Flag("backfill");
  });
}

TEST(Params, NumbersAreSeparatedByBars) {
  EXPECT_EQ(Las({}).Numbers("queues"), (std::vector<double>{3600, 36000}));
  EXPECT_TRUE(Las({{"queues", ""}}).Numbers("queues").empty());
  ExpectError(ExitCode::kUsage, {"'queues'", "'x'"}, [] {
    Las({{"queues", "1|x"}}).Numbers("queues");
  });
}

TEST(Params, EachOfSeveralNumbersMustBeInRange) {
  const std::vector<ParamSpec> specs = {{"queues", "", "thresholds", 0, 1e6}};
  ExpectError(ExitCode::kUsage, {"'queues'", "[0, 1000000", "-1"}, [&] {
    Params("policy 'las'", specs, {{"queues", "5|-1"}}).Numbers("queues");
  });
}

TEST(Params, AskingForAnUndeclaredNameIsAFaultOfTheProgram) {
  EXPECT_THROW(Las({}).Number("quantum"), std::logic_error);
}

TEST(ParseNamedParams, NameAlone) {
  const NamedParams parsed = ParseNamedParams("fifo");
  EXPECT_EQ(parsed.name, "fifo");
  EXPECT_TRUE(parsed.given.empty());
}

TEST(ParseNamedParams, PairsAreTrimmed) {
  const NamedParams parsed = ParseNamedParams("las: queues=1|2, backfill = no");
  EXPECT_EQ(parsed.name, "las");
  EXPECT_EQ(parsed.given,
            (std::map<std::string, std::string>{{"queues", "1|2"}, {"backfill", "no"}}));
}

TEST(ParseNamedParams, AKeyGivenTwiceIsRefused) {
  ExpectError(ExitCode::kUsage, {"'index'", "'alpha'", "1 and 2"},
              [] { ParseNamedParams("index:alpha=1,beta=0,alpha=2"); });
}

TEST(ParseNamedParams, MalformedTextIsShown) {
  for (const char* text : {"", ":a=1", "las:backfill", "las:=1"}) {
    ExpectError(ExitCode::kUsage, {"expected"}, [&] { ParseNamedParams(text); });
  }
}

}  // namespace
}  // namespace allot
