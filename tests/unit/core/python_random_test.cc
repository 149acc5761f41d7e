#include "core/python_random.h"

#include <gtest/gtest.h>

#include <string>

namespace allot {
namespace {

// What Python 3 prints for random.Random(seed): random(), getrandbits(32), getrandbits(5),
// randrange(1000).
void ExpectNumbers(std::uint64_t seed, double uniform, std::uint32_t word, std::uint32_t bits,
                   std::uint32_t below) {
  PythonRandom random(seed);
  EXPECT_EQ(random.Uniform(), uniform) << seed;
  EXPECT_EQ(random.Bits(32), word) << seed;
  EXPECT_EQ(random.Bits(5), bits) << seed;
  EXPECT_EQ(random.Below(1000), below) << seed;
}

TEST(PythonRandom, DrawsWhatPythonDraws) {
  ExpectNumbers(5, 0.6229016948897019, 3185950873, 11, 814);
  ExpectNumbers((1ULL << 40) | 7, 0.6137037779936511, 3500038837, 30, 967);
  ExpectNumbers(1ULL << 33, 0.011451121320907864, 2944842790, 10, 3);
}

// Gavel's orders of GPU types with seed 0 begin so (../shared/reference/gavel/replay).
TEST(PythonRandom, ShufflesAsPythonDoes) {
  PythonRandom random(5);
  std::string orders;
  for (int round = 0; round < 6; ++round) {
    std::vector<char> types = {'v', 'p', 'k'};
    random.Shuffle(&types);
    orders.append(types.begin(), types.end()).append(" ");
  }
  EXPECT_EQ(orders, "vpk vpk pvk kvp pvk pkv ");
}

// random.Random(42).sample(range(64), 4) and so on: from a list and from a set.
TEST(PythonRandom, SamplesAsPythonDoes) {
  using Sample = std::vector<std::uint32_t>;
  EXPECT_EQ(PythonRandom(42).Sample(64, 4), (Sample{14, 3, 35, 31}));
  EXPECT_EQ(PythonRandom(42).Sample(64, 8), (Sample{14, 1, 47, 17, 15, 63, 8, 61}));
  EXPECT_EQ(PythonRandom(7).Sample(10, 10), (Sample{5, 2, 6, 9, 0, 7, 4, 1, 3, 8}));
}

}  // namespace
}  // namespace allot
