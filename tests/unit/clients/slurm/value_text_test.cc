#include "clients/slurm/value_text.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace allot {
namespace {

using Names = std::vector<std::string>;

TEST(SlurmValues, Lengths) {
  EXPECT_EQ(ParseSlurmSpan("2-01:02:03"), 2 * 86400 + 3723);
  EXPECT_EQ(ParseSlurmSpan("26:00:00"), 26 * 3600);
  EXPECT_EQ(ParseSlurmSpan("05:30"), 330);
  EXPECT_EQ(ParseSlurmSpan("00:00:01.500"), 1.5);
  for (const char* bad : {"", "5", "1:60", "-1:00", "1-2", "a:b", "1:2:3:4", "1e1:00"}) {
    EXPECT_FALSE(ParseSlurmSpan(bad)) << bad;
  }
}

TEST(SlurmValues, ListsOfHosts) {
  EXPECT_EQ(ExpandHosts(""), Names());
  EXPECT_EQ(ExpandHosts("n1"), Names{"n1"});
  EXPECT_EQ(ExpandHosts("n[1-2,08-10],m3"), (Names{"n1", "n2", "n08", "n09", "n10", "m3"}));
  EXPECT_EQ(ExpandHosts("r[1-2]n[3,5]x"), (Names{"r1n3x", "r1n5x", "r2n3x", "r2n5x"}));
  for (const char* wrong : {"n[1", "n[]", "n[2-1]", "n[a-b]", "n[1-99999999999]", "n[1-9999999]",
                            "a[1-9999]b[1-9999]"}) {
    EXPECT_THROW((void)ExpandHosts(wrong), Error) << wrong;
  }
}

using Tasks = std::vector<std::int64_t>;

TEST(SlurmValues, FirstTasksOfAnArray) {
  EXPECT_EQ(ParseArrayTasks("0-2,5", 10), (Tasks{0, 1, 2, 5}));
  EXPECT_EQ(ParseArrayTasks("4-99%3", 2), (Tasks{4, 5}));
  EXPECT_EQ(ParseArrayTasks("1-9:4,20%2", 10), (Tasks{1, 5, 9, 20}));
  EXPECT_EQ(ParseArrayTasks("7", 10), (Tasks{7}));
  EXPECT_EQ(ParseArrayTasks("0,2,4,...", 10), (Tasks{0, 2, 4})) << "the rest is seen later";
  EXPECT_EQ(ParseArrayTasks("0-3", 0), (Tasks{}));
}

}  // namespace
}  // namespace allot
