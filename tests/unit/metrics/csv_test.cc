#include "metrics/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"

namespace allot {
namespace {

std::string MessageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CsvFile, EmptyFieldsAreUnknown) {
  const CsvFile file = CsvFile::Parse("a,b\n1,\n2.5,3\n", "x.csv");
  EXPECT_EQ(file.Numbers("a"), (std::vector<double>{1, 2.5}));
  EXPECT_TRUE(std::isnan(file.Numbers("b")[0]));
}

TEST(CsvFile, QuotedFieldsMayHoldCommasQuotesAndLines) {
  const CsvFile file = CsvFile::Parse("name,n\r\n\"a,\"\"b\"\"\nc\",7\r\n", "x.csv");
  EXPECT_EQ(file.Numbers("n"), (std::vector<double>{7}));
}

TEST(CsvFile, LastLineNeedsNoBreak) {
  EXPECT_EQ(CsvFile::Parse("a\n1\n2", "x.csv").Numbers("a").size(), 2U);
}

TEST(CsvFile, RowOfAnotherWidthNamesItsLine) {
  EXPECT_EQ(MessageOf([] { CsvFile::Parse("a,b\n1,2\n3\n", "x.csv"); }),
            "x.csv:3: expected 2 fields as in the header, got 1");
}

TEST(CsvFile, NotANumberNamesLineAndColumn) {
  EXPECT_EQ(MessageOf([] { CsvFile::Parse("a\n1\nnan\n", "x.csv").Numbers("a"); }),
            "x.csv:3: 'a' must be a number, got 'nan'");
}

TEST(CsvFile, AbsentColumnShowsTheHeader) {
  EXPECT_EQ(MessageOf([] { CsvFile::Parse("a,b\n", "x.csv").Numbers("jct_s"); }),
            "x.csv:1: column 'jct_s' is required, got a,b");
}

TEST(CsvFile, UnclosedQuoteNamesWhereItBegan) {
  EXPECT_EQ(MessageOf([] { CsvFile::Parse("a\n\"1\n2\n", "x.csv"); }),
            "x.csv:2: a quoted field must be closed, got end of file");
}

TEST(CsvFile, EmptyFileHasNoHeader) {
  EXPECT_EQ(MessageOf([] { CsvFile::Parse("", "x.csv"); }),
            "x.csv:1: a header line is required, got an empty file");
}

}  // namespace
}  // namespace allot
