#include "table/text_encoding.h"

#include "trace_testing.h"

namespace allot {
namespace {

using std::string_literals::operator""s;

TEST(TextEncoding, Utf8StaysAsItIs) {
  const DecodedText decoded = DecodeText("a;ü\n", "t.csv");
  EXPECT_EQ(decoded.text, "a;ü\n");
  EXPECT_EQ(decoded.encoding, "UTF-8");
}

TEST(TextEncoding, Utf16InBothOrdersAndBeyondTheFirstPlane) {
  EXPECT_EQ(DecodeText("\xFF\xFE\x61\x00\xFC\x00\x3D\xD8\x00\xDE"s, "t.csv").text, "aü😀");
  EXPECT_EQ(DecodeText("\xFE\xFF\x00\x61\x00\xFC\xD8\x3D\xDE\x00"s, "t.csv").text, "aü😀");
}

TEST(TextEncoding, BrokenUtf16NamesTheByte) {
  ExpectError(ExitCode::kBadData, {"even number of bytes", "byte 5 of 5", "t.csv:1"},
              [] { DecodeText("\xFF\xFE\x61\x00\x62"s, "t.csv"); });
  ExpectError(ExitCode::kBadData, {"whole characters", "byte 3 of 6", "t.csv:1"},
              [] { DecodeText("\xFF\xFE\x3D\xD8\x61\x00"s, "t.csv"); });
}

TEST(TextEncoding, Latin1AsWindowsWritesIt) {
  const DecodedText decoded = DecodeText("M\xFCller; 5 \x80", "t.csv");
  EXPECT_EQ(decoded.text, "Müller; 5 €");
  EXPECT_EQ(decoded.encoding, "Latin-1");
}

TEST(TextEncoding, BytesThatAreNoTextStay) {
  EXPECT_EQ(DecodeText("\x01\xFF\x02", "t.csv").text, "\x01\xFF\x02");
}

}  // namespace
}  // namespace allot
