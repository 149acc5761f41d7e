#include "table/column_map.h"

#include "trace_testing.h"

namespace allot {
namespace {

TEST(ColumnMap, ReadsNamesWithAnyCharacters) {
  const ColumnMap map = ColumnMap::Parse(
      "submit=Submit Time, gpus=\"GPUs, \"\"all\"\"\",duration=#4,queue=a=b,times=mdy,lengths=min");
  EXPECT_EQ(map.Column("submit"), "Submit Time");
  EXPECT_EQ(map.Column("gpus"), "GPUs, \"all\"");
  EXPECT_EQ(map.Column("duration"), "#4");
  EXPECT_EQ(map.Column("tenant"), "a=b");
  EXPECT_EQ(map.times, "mdy");
  EXPECT_EQ(map.lengths, "min");
  EXPECT_EQ(ColumnMap::Parse(map.ToString()).ToString(), map.ToString());
  EXPECT_TRUE(map.Lacks().empty());
}

TEST(ColumnMap, SaysWhatIsLacking) {
  const auto lacks = ColumnMap::Parse("start=a,user=b").Lacks();
  ASSERT_EQ(lacks.size(), 3u);
  EXPECT_NE(lacks[0].find("submit=COLUMN"), std::string::npos);
  EXPECT_NE(lacks[1].find("gpus=COLUMN"), std::string::npos);
  EXPECT_NE(lacks[2].find("end=COLUMN"), std::string::npos);
}

TEST(ColumnMap, RefusesWhatItDoesNotKnow) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"submit", {"MEANING=COLUMN", "'submit'", "without '='"}},
      {"submti=a", {"no meaning 'submti'", "did you mean 'submit'"}},
      {"submit=a,submit=b", {"submit is one column", "'a' and 'b'"}},
      {"queue=a,partition=b", {"tenant is one column", "'a' and 'b'"}},
      {"times=week", {"times must be", "'week'"}},
      {"lengths=year", {"lengths must be", "'year'"}},
      {"submit=\"a", {"quote", "closed"}},
      {"submit=", {"submit needs the name"}},
      {",", {"must name a column"}}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.first);
    ExpectError(ExitCode::kUsage, each.second, [&] { ColumnMap::Parse(each.first); });
  }
}

TEST(ColumnMap, FindsColumnsByNameAndNumber) {
  const std::vector<std::string> header = {"", "Submit", "#2"};
  EXPECT_EQ(PositionOf("Submit", header, "t.csv:1"), 1u);
  EXPECT_EQ(PositionOf("#1", header, "t.csv:1"), 0u);
  EXPECT_EQ(PositionOf("#2", header, "t.csv:1"), 2u) << "a name comes before a number";
  ExpectError(ExitCode::kUsage, {"no column 'submit'", "did you mean 'Submit'", "t.csv:1"},
              [&] { PositionOf("submit", header, "t.csv:1"); });
}

}  // namespace
}  // namespace allot
