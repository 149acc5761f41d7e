#include "auth/secret.h"

#include <gtest/gtest.h>

#include <string>

namespace allot {
namespace {

TEST(Secret, CodesAreHmacSha256) {
  // RFC 4231, test cases 2 and 6.
  EXPECT_EQ(KeyedCode("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      KeyedCode(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Secret, TokensDifferAndLookLikeTokens) {
  const std::string token = NewToken();
  EXPECT_TRUE(LooksLikeToken(token)) << token;
  EXPECT_NE(token, NewToken());
  EXPECT_FALSE(LooksLikeToken(token.substr(1)));
  EXPECT_FALSE(LooksLikeToken(token.substr(1) + "G"));
  EXPECT_FALSE(LooksLikeToken(token + "0"));
}

TEST(Secret, OnlyTheSameIsTheSame) {
  EXPECT_TRUE(SameSecret("abc", "abc"));
  EXPECT_TRUE(SameSecret("", ""));
  EXPECT_FALSE(SameSecret("abc", "abd"));
  EXPECT_FALSE(SameSecret("abc", "ab"));
}

}  // namespace
}  // namespace allot
