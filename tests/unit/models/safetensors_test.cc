#include "models/safetensors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// A file from a header text and so many zero bytes of data, without the encoder.
std::string File(const std::string& header, std::size_t data_bytes) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>((header.size() >> (8 * i)) & 0xFF));
  }
  return bytes + header + std::string(data_bytes, '\0');
}

std::string Fault(const std::string& bytes) {
  return ErrorOf(ExitCode::kBadData, [&] { DecodeSafetensors(bytes, "m.safetensors"); });
}

TEST(Safetensors, RoundTripKeepsNamesShapesAndBits) {
  const TensorMap tensors = {{"b.matrix", {{2, 3}, {1.5F, -0.0F, 1e-42F, 3e38F, -2.0F, 0.1F}}},
                             {"a.vector", {{2}, {7.0F, 8.0F}}},
                             {"scalar", {{}, {4.0F}}},
                             {"empty", {{0, 5}, {}}}};
  const std::string bytes = EncodeSafetensors(tensors, {{"kind", "test"}});
  const TensorMap back = DecodeSafetensors(bytes, "memory");
  EXPECT_EQ(back, tensors);
  EXPECT_EQ(EncodeSafetensors(back, {{"kind", "test"}}), bytes);
}

TEST(Safetensors, NoTensorsIsAFileToo) {
  EXPECT_TRUE(DecodeSafetensors(EncodeSafetensors({}), "memory").empty());
}

TEST(Safetensors, BytesAreTheDocumentedOnes) {
  const std::string bytes = EncodeSafetensors({{"w", {{2}, {1.0F, 2.0F}}}});
  const std::string header = R"({"w":{"data_offsets":[0,8],"dtype":"F32","shape":[2]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  std::string expected = File(padded, 8);
  const float data[] = {1.0F, 2.0F};
  std::memcpy(expected.data() + expected.size() - 8, data, 8);
  EXPECT_EQ(bytes, expected);
}

TEST(Safetensors, EveryTruncationIsFound) {
  const std::string bytes = EncodeSafetensors({{"w", {{2, 2}, {1, 2, 3, 4}}}}, {{"k", "v"}});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(Fault(bytes.substr(0, size)), "") << "cut to " << size << " bytes";
  }
  EXPECT_EQ(Fault(bytes + "x"), "m.safetensors: the tensors cover 16 bytes, the file holds 17");
}

TEST(Safetensors, FaultsNameTheRuleAndBothValues) {
  const std::string w = "m.safetensors: tensor 'w'";
  EXPECT_EQ(Fault("abc"), "m.safetensors: a safetensors file has at least 8 bytes, got 3");
  EXPECT_EQ(Fault(std::string(7, '\0') + "\x01{}"),
            "m.safetensors: the header announces 72057594037927936 bytes, at most 2 can follow");
  EXPECT_EQ(Fault(File("[]", 0)), "m.safetensors: the header must be a JSON object, got array");
  EXPECT_EQ(Fault(File("{", 0)).substr(0, 43), "m.safetensors: the header must be JSON: [js");
  EXPECT_EQ(Fault(File(R"({"w":3})", 0)), w + " must be an object with 'dtype', got 3");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})", 4)),
            w + " must have dtype \"F32\", got \"F16\"");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", 8)),
            w + ": shape must be a list, got 2");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8)),
            w + ": data_offsets must be [begin, end], got [0]");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8)),
            w + ": a size in shape must be a whole number >= 0, got -2");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", 8)),
            w + ": data_offsets must lie within [0, 8], got [0, 12]");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8)),
            w + ": data_offsets must lie within [0, 8], got [8, 0]");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 8)),
            w + ": shape [1] needs 4 bytes, data_offsets give 8");
  EXPECT_EQ(Fault(File(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8)),
            w + " must begin at byte 0 (no gaps, no overlaps), got 4");
}

TEST(Safetensors, DamagedBytesGiveDataErrorsOrOtherNumbersNothingElse) {
  const std::string bytes =
      EncodeSafetensors({{"a", {{2, 2}, {1, 2, 3, 4}}}, {"b", {{1}, {5}}}}, {{"k", "v"}});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_NO_THROW(Fault(damaged)) << "bit " << bit << " of byte " << i;
    }
  }
}

TEST(Safetensors, OverflowingShapesAreRefused) {
  const std::string header =
      R"({"w":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}})";
  EXPECT_NE(Fault(File(header, 0)).find("needs more than the 0 values in the file"),
            std::string::npos);
}

TEST(Safetensors, OverlappingTensorsAreRefused) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})";
  EXPECT_EQ(Fault(File(header, 8)),
            "m.safetensors: tensor 'b' must begin at byte 8 (no gaps, no overlaps), got 4");
}

}  // namespace
}  // namespace allot
