#include "perf/configuration_key.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_set>

#include "core/error.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

const std::vector<UnitKind> kGpu{{"gpu", {1, 0}}};
const std::vector<UnitKind> kWorkers{{"worker", {1, 2}}, {"ps", {0, 2}}};
const std::vector<std::string> kTypes{"k80", "v100"};
const std::vector<std::string> kPartners{"lm:10", "LM (batch size 20)"};

std::string KeyRefusal(std::string_view text) {
  return ErrorOf(ExitCode::kBadData, [&] { ParseKey(text, {kGpu, kTypes, kPartners}); });
}

TEST(ConfigurationKey, IsWrittenInWords) {
  const KeyNames names{kGpu, kTypes, kPartners};
  EXPECT_EQ(TextOf({{4}, 1, {1, 1}}, names), "gpus=4 type=v100 nodes=1");
  EXPECT_EQ(TextOf({{4}, 0, {2, Span::kAny}}, names), "gpus=4 type=k80 nodes=2+");
  EXPECT_EQ(TextOf({{8}, 1}, names), "gpus=8 type=v100");
  EXPECT_EQ(TextOf({{1}, 1, {}, 1}, names), "gpus=1 type=v100 partner=LM (batch size 20)");
  EXPECT_EQ(TextOf({{2, 1}, 0}, {kWorkers, kTypes, kPartners}), "worker=2 ps=1 type=k80");
}

TEST(ConfigurationKey, ReadsBackWhatItWrote) {
  const KeyNames names{kWorkers, kTypes, kPartners};
  std::unordered_set<ConfigurationKey> seen;
  for (const Span span : {Span{}, Span{1, 1}, Span{2, Span::kAny}, Span{2, 4}}) {
    for (const auto type : {GpuTypeIndex{0}, GpuTypeIndex{1}}) {
      for (const std::int16_t partner : {kNoPartner, std::int16_t{0}, std::int16_t{1}}) {
        for (const UnitCounts& units : {UnitCounts(1, 0), UnitCounts(3, 12)}) {
          const ConfigurationKey key(units, type, span, partner);
          ASSERT_EQ(ParseKey(TextOf(key, names), names), key) << TextOf(key, names);
          ASSERT_TRUE(seen.insert(key).second) << TextOf(key, names);
        }
      }
    }
  }
}

TEST(ConfigurationKey, ErrorsNameTheTextAndWhatIsKnown) {
  EXPECT_EQ(KeyRefusal("gpus=4 type=h100"),
            "a configuration names one of the GPU types k80, v100, got 'h100' in 'gpus=4 "
            "type=h100'");
  EXPECT_EQ(KeyRefusal("cores=4 type=k80"),
            "a configuration names one of the kinds of unit gpus, got 'cores' in 'cores=4 "
            "type=k80'");
  EXPECT_EQ(KeyRefusal("gpus=x type=k80"),
            "'gpus' must be a whole number from 0 to 32767, got 'x' in 'gpus=x type=k80'");
  EXPECT_EQ(KeyRefusal("gpus=4"), "a configuration names its units and its GPU type, got 'gpus=4'");
}

TEST(Span, HoldsItsNumbersOfNodes) {
  EXPECT_TRUE((Span{1, 1}).Holds(1));
  EXPECT_FALSE((Span{1, 1}).Holds(2));
  EXPECT_FALSE((Span{2, Span::kAny}).Holds(1));
  EXPECT_TRUE((Span{2, Span::kAny}).Holds(100'000));
  EXPECT_TRUE(Span{}.any());
}

TEST(Span, TextsThatAreNone) {
  for (const char* text : {"", "0", "-", "3-2", "2+-", "x", "1.5", "+"}) {
    EXPECT_THROW(ParseSpan(text), Error) << text;
  }
}

TEST(UnitCounts, AreAValueOfTwoKinds) {
  const UnitCounts some(3, 1);
  EXPECT_EQ(some + UnitCounts(1, 1), UnitCounts(4, 2));
  EXPECT_EQ(some - UnitCounts(1, 1), UnitCounts(2, 0));
  EXPECT_TRUE(some.FitsIn({3, 2}));
  EXPECT_FALSE(some.FitsIn({9, 0}));
  EXPECT_EQ(DemandOf(kWorkers, some), (Resources{3, 8}));
  EXPECT_EQ(UnitCounts::OfEach(1, 5), UnitCounts(5, 0));
  EXPECT_TRUE(UnitCounts().none());
}

}  // namespace
}  // namespace allot
