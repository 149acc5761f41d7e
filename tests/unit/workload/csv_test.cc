#include "table/csv.h"

#include "trace_testing.h"

namespace allot {
namespace {

std::vector<std::vector<std::string>> CsvRows(std::string_view text) {
  CsvReader csv(text, "t.csv", {"a", "b"});
  std::vector<std::vector<std::string>> rows;
  while (csv.Next()) {
    csv.CheckRow();
    rows.push_back({std::string(csv.Text("a")), std::string(csv.Text("b"))});
  }
  return rows;
}

using Table = std::vector<std::vector<std::string>>;

TEST(Csv, QuotedFieldsHoldCommasQuotesAndLineBreaks) {
  EXPECT_EQ(CsvRows("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\r\nlines\",\"\"\n"),
            (Table{{"x,y", "say \"hi\""}, {"two\r\nlines", ""}}));
}

TEST(Csv, LineEndsMayBeCrLfOrMissingAtTheEnd) {
  EXPECT_EQ(CsvRows("a,b\r\n1,2\r\n3,4"), (Table{{"1", "2"}, {"3", "4"}}));
}

TEST(Csv, FieldsAfterOneWithQuotesStandAsTheyAre) {
  EXPECT_EQ(CsvRows("a,b\n\"x\"\"y\",second\nthird,\"\"\n"),
            (Table{{"x\"y", "second"}, {"third", ""}}));
}

TEST(Csv, EmptyLinesAndByteOrderMarkAreSkipped) {
  EXPECT_EQ(CsvRows("\xEF\xBB\xBF"
                    "a,b\n\n1,2\n\n\n"),
            (Table{{"1", "2"}}));
}

TEST(Csv, ColumnsAreFoundByNameInAnyOrder) {
  EXPECT_EQ(CsvRows("b,a\n1,2\n"), (Table{{"2", "1"}}));
}

TEST(Csv, SpacesBelongToTheField) { EXPECT_EQ(CsvRows("a,b\n 1 ,\n"), (Table{{" 1 ", ""}})); }

TEST(Csv, LinesAreCountedThroughQuotedBreaks) {
  CsvReader csv("a\n\"1\n\n\"\n2\n", "t.csv", {"a"});
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.place(), "t.csv:2");
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.place(), "t.csv:5");
}

TEST(Csv, AbsentOptionalColumnReadsAsEmpty) {
  CsvReader csv("a\n1\n", "t.csv", {"a"}, {"c"});
  ASSERT_TRUE(csv.Next());
  EXPECT_FALSE(csv.Has("c"));
}

TEST(Csv, HeaderErrorsNameTheColumn) {
  const auto read = [](std::string_view text) { CsvReader(text, "t.csv", {"gpus", "user"}); };
  ExpectError(ExitCode::kBadData, {"'usr'", "did you mean 'user'", "t.csv:1"},
              [&] { read("gpus,usr\n"); });
  ExpectError(ExitCode::kBadData, {"'user' is required", "gpus", "t.csv:1"},
              [&] { read("gpus\n"); });
  ExpectError(ExitCode::kBadData, {"once", "'gpus' as columns 1 and 3", "t.csv:1"},
              [&] { read("gpus,user,gpus\n"); });
  ExpectError(ExitCode::kBadData, {"header gpus,user", "no line", "t.csv:1"}, [&] { read(""); });
}

TEST(Csv, RowsOfAnotherWidthNameBothCounts) {
  ExpectError(ExitCode::kBadData, {"2 fields", "got 3", "t.csv:3"},
              [] { CsvRows("a,b\n1,2\n1,2,3\n"); });
  ExpectError(ExitCode::kBadData, {"2 fields", "got 1", "t.csv:2"}, [] { CsvRows("a,b\n1\n"); });
}

TEST(Csv, QuoteErrorsNameWhereTheRowBegins) {
  ExpectError(ExitCode::kBadData, {"must be closed", "end of the file", "t.csv:2"},
              [] { CsvRows("a,b\n1,\"2\n"); });
  ExpectError(ExitCode::kBadData, {"whole field", "inside", "t.csv:2"},
              [] { CsvRows("a,b\n1,2\"3\"\n"); });
  ExpectError(ExitCode::kBadData, {"whole field", "inside", "t.csv:2"},
              [] { CsvRows("a,b\n1,\"2\"3\n"); });
}

TEST(Csv, TextMustBeUtf8) {
  EXPECT_EQ(CsvRows("a,b\nJosé,日本\n"), (Table{{"José", "日本"}}));
  const std::string bad[] = {"\xff",    "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                             "\xe2\x82"};
  for (const std::string& bytes : bad) {
    ExpectError(ExitCode::kBadData,
                {"UTF-8", fmt::format("0x{:02x}", static_cast<unsigned char>(bytes[0])), "t.csv:2"},
                [&] { CsvRows("a,b\n1," + bytes + "\n"); });
  }
}

TEST(Csv, NumbersMustBeFiniteAndWhole) {
  for (const std::string text :
       {"", "x", "1x", " 1", "nan", "NaN", "inf", "-inf", "1e999", "0x10"}) {
    const std::string table = "a,b\n" + text + ",1\n";
    CsvReader csv(table, "t.csv", {"a", "b"});
    ASSERT_TRUE(csv.Next());
    ExpectError(ExitCode::kBadData, {"'a' must be a finite number", "'" + text + "'", "t.csv:2"},
                [&] { csv.Number("a"); });
    ExpectError(ExitCode::kBadData, {"'a' must be a whole number from 0 to 9", "'" + text + "'"},
                [&] { csv.Integer("a", 0, 9); });
  }
}

TEST(Csv, IntegersHaveARange) {
  CsvReader csv("a,b\n10,1.0\n", "t.csv", {"a", "b"});
  ASSERT_TRUE(csv.Next());
  EXPECT_EQ(csv.Integer("a", 1, 10), 10);
  ExpectError(ExitCode::kBadData, {"from 1 to 9", "'10'", "t.csv:2"},
              [&] { csv.Integer("a", 1, 9); });
  ExpectError(ExitCode::kBadData, {"whole number", "'1.0'", "t.csv:2"},
              [&] { csv.Integer("b", 1, 9); });
}

TEST(Csv, HeaderMatchIsTheShareOfNamedColumns) {
  EXPECT_EQ(HeaderMatch("a,b\r\n1,2", {"a", "b"}), 100);
  EXPECT_EQ(HeaderMatch("a,b,c", {"a", "b"}, {"c"}), 100);
  EXPECT_EQ(HeaderMatch("a,b,c", {"a", "b"}), 66);  // one column is unknown
  EXPECT_EQ(HeaderMatch("\"a\"", {"a", "b"}), 50);
  EXPECT_EQ(HeaderMatch("", {"a"}), 0);
}

TEST(Csv, TablesWithoutHeaderKnowNoQuotes) {
  CsvReader csv = CsvReader::WithoutHeader("a \"b\"\t2.0\n", "t.tsv", {"text", "count"}, '\t');
  ASSERT_TRUE(csv.Next());
  csv.CheckRow();
  EXPECT_EQ(csv.line(), 1);
  EXPECT_EQ(csv.Text("text"), "a \"b\"");
  EXPECT_EQ(csv.Whole("count", 1, 2), 2);
  ExpectError(ExitCode::kBadData, {"from 3 to 4", "'2.0'"}, [&] { csv.Whole("count", 3, 4); });
}

}  // namespace
}  // namespace allot
