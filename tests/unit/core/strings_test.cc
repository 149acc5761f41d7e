#include "core/strings.h"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
}

TEST(Split, OfNothingIsOneEmptyPart) {
  EXPECT_EQ(Split("", ','), (std::vector<std::string_view>{""}));
}

TEST(Trim, RemovesBlanksAtBothEndsOnly) { EXPECT_EQ(Trim(" \ta b\r\n"), "a b"); }

TEST(Trim, OfBlanksIsEmpty) { EXPECT_EQ(Trim(" \t "), ""); }

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(Join({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(ParseNumber, TakesTheWholeText) {
  EXPECT_EQ(ParseNumber("-2.5e3"), -2500.0);
  for (const char* text : {"", "1x", " 1", "1 ", "0x10", "1,5"}) {
    EXPECT_EQ(ParseNumber(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(ParseNumber, RefusesWhatIsNotFinite) {
  for (const char* text : {"nan", "inf", "-inf", "1e999"}) {
    EXPECT_EQ(ParseNumber(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, RefusesFractionsAndOverflow) {
  EXPECT_EQ(ParseInteger("-17"), -17);
  for (const char* text : {"", "1.0", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(ParseInteger(text), std::nullopt) << "'" << text << "'";
  }
}

TEST(Printable, EscapesWhatTerminalsObeyOrHide) {
  EXPECT_EQ(Printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\x9b");
  EXPECT_EQ(Printable("exe\xe2\x80\xaetxt"), "exe\\u202etxt") << "right to left";
  EXPECT_EQ(Printable("\xd8\x9c\xe2\x80\x8b\xe2\x81\xa6\xef\xbb\xbf"),
            "\\u061c\\u200b\\u2066\\ufeff");
}

TEST(Printable, LeavesLettersOfAllAlphabetsAndBrokenTextAsTheyAre) {
  for (const char* text :
       {"Übung", "\xe4\xb8\xad\xe6\x96\x87", "\xf0\x9f\x98\x80", "\xe2\x80", "\xe2"}) {
    EXPECT_EQ(Printable(text), text);
  }
}

TEST(DidYouMean, OffersTheNearestCandidate) {
  EXPECT_EQ(DidYouMean("fiffo", {"las", "fifo", "srtf"}), " (did you mean 'fifo'?)");
}

TEST(DidYouMean, ListsAllWhenNoneIsNear) {
  EXPECT_EQ(DidYouMean("gandiva", {"las", "fifo"}), "; known: las, fifo");
}

TEST(DidYouMean, TakesCapitalsAsSmallLetters) {
  EXPECT_EQ(DidYouMean("LAS", {"fifo", "las"}), " (did you mean 'las'?)");
}

TEST(DidYouMean, OffersWhatBeginsAlike) {
  EXPECT_EQ(DidYouMean("--policy", {"--profile", "--policies"}), " (did you mean '--policies'?)");
  EXPECT_EQ(DidYouMean("simul", {"list", "simulate"}), " (did you mean 'simulate'?)");
}

TEST(DidYouMean, TwoLettersAndDashesBeginNothing) {
  EXPECT_EQ(DidYouMean("--xy", {"--xylophone"}), "; known: --xylophone");
}

TEST(DidYouMean, AllowsAThirdOfALongWord) {
  EXPECT_EQ(DidYouMean("utillizzation", {"jct", "utilisation"}), " (did you mean 'utilisation'?)");
}

}  // namespace
}  // namespace allot
