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

}  // namespace
}  // namespace allot
