#include "core/user_json.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

std::string Nested(int depth) {
  const auto n = static_cast<std::size_t>(depth);
  return std::string(n, '[') + std::string(n, ']');
}

TEST(UserJson, DepthIsLimited) {
  EXPECT_FALSE(ParseUserJson(Nested(kDeepestJson)).is_discarded());
  JsonFault fault;
  EXPECT_TRUE(ParseUserJson(Nested(kDeepestJson + 1), &fault).is_discarded());
  EXPECT_EQ(fault.rule, "must not nest lists and objects deeper than 100");
  EXPECT_EQ(fault.byte, 100u);
  EXPECT_TRUE(ParseUserJson(std::string(1'000'000, '[')).is_discarded());
}

TEST(UserJson, BracketsInTextAreNoDepth) {
  const std::string text = "\"" + std::string(500, '[') + "\\\"" + std::string(500, '{') + "\"";
  EXPECT_EQ(ParseUserJson(text).get<std::string>().size(), 1001u);
}

TEST(UserJson, FaultsSayWhere) {
  JsonFault fault;
  EXPECT_TRUE(ParseUserJson("{\"a\": x}", &fault).is_discarded());
  EXPECT_EQ(fault.rule, "must be well-formed JSON");
  EXPECT_EQ(fault.byte, 6u);
  EXPECT_TRUE(ParseUserJson("1e999").is_discarded());
}

}  // namespace
}  // namespace allot
