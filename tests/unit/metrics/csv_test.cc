#include "metrics/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "core/file.h"
#include "core/types.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/core/temp_folder.h"

namespace allot {
namespace {

std::string FileOf(const std::string& text) {
  static const testing_support::TempFolder root;
  const std::filesystem::path path =
      root / testing::UnitTest::GetInstance()->current_test_info()->name() / "x.csv";
  WriteTextFile(path, text);
  return path.string();
}

TEST(CsvField, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(CsvField("plain name"), "plain name");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\""), "\"say \"\"x\"\"\"");
}

TEST(ReadNumberColumns, EmptyFieldsAreUnknown) {
  const NumberColumns columns = ReadNumberColumns(FileOf("a,b\n1,\n2.5,3\n"), {"a", "b"});
  EXPECT_EQ(columns.at("a"), (std::vector<double>{1, 2.5}));
  EXPECT_TRUE(std::isnan(columns.at("b")[0]));
}

TEST(ReadNumberColumns, ColumnsThatNobodyAskedForMayHoldText) {
  const NumberColumns columns = ReadNumberColumns(FileOf("name,n\n\"a,b\",7\n"), {"n"});
  EXPECT_EQ(columns.size(), 1U);
  EXPECT_EQ(columns.at("n"), (std::vector<double>{7}));
}

TEST(ReadNumberColumns, OptionalColumnsMayBeAbsent) {
  const NumberColumns columns = ReadNumberColumns(FileOf("a,b\n1,2\n"), {}, {"b", "c"});
  EXPECT_EQ(columns.at("b"), (std::vector<double>{2}));
  EXPECT_FALSE(columns.contains("c"));
}

TEST(ReadNumberColumns, RequiredColumnsMayNot) {
  ExpectError(ExitCode::kBadData, {"'jct_s'"},
              [&] { ReadNumberColumns(FileOf("a\n1\n"), {"jct_s"}); });
}

TEST(ReadNumberColumns, NotANumberNamesItsLine) {
  ExpectError(ExitCode::kBadData, {"x.csv:3"},
              [&] { ReadNumberColumns(FileOf("a\n1\nnan\n"), {"a"}); });
}

}  // namespace
}  // namespace allot
