#include "core/rng.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace allot {
namespace {

constexpr int kDraws = 200000;

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments MomentsOf(const std::function<double()>& draw) {
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw();
    sum += x;
    squares += x * x;
  }
  const double mean = sum / kDraws;
  return {mean, squares / kDraws - mean * mean};
}

// Six standard errors of a mean over kDraws draws: the seeds are fixed, so this never flickers.
double Tolerance(double standard_deviation) { return 6 * standard_deviation / std::sqrt(kDraws); }

TEST(Rng, LibraryComputesThePublishedPhiloxVector) {
  // kat_vectors of Random123: philox4x32-10 with all counters and keys zero.
  const auto block = r123::Philox4x32()({{0, 0, 0, 0}}, {{0, 0}});
  EXPECT_EQ(block[0], 0x6627e8d5U);
  EXPECT_EQ(block[1], 0xe169c58dU);
  EXPECT_EQ(block[2], 0xbc57ac4cU);
  EXPECT_EQ(block[3], 0x9b00dbd8U);
}

// Frozen: a change here changes every result anybody has published with allot.
TEST(Rng, FrozenWords) {
  Rng rng(7, "frozen", 1, 2);
  const std::vector<std::uint64_t> expected = {0x7404f460456e6adcULL, 0x0a9cc21286bea880ULL,
                                               0x4620479b1800c912ULL, 0x6fddb656de33782fULL,
                                               0xc67aac96791af0a2ULL};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(rng.NextU64(), expected[i]) << i;
}

TEST(Rng, FrozenDistributions) {
  EXPECT_DOUBLE_EQ(Rng(7, "uniform").Uniform(), 0.3888840442356777);
  EXPECT_DOUBLE_EQ(Rng(7, "normal").Normal(), -2.096915540928772);
  EXPECT_DOUBLE_EQ(Rng(7, "exponential").Exponential(10), 5.208528053813915);
  EXPECT_EQ(Rng(7, "poisson").Poisson(50), 62);
  EXPECT_EQ(Rng(7, "below").Below(1000), 330U);
}

TEST(Rng, SameNameSameStream) {
  Rng a(1, "x", 2, 3);
  Rng b(1, "x", 2, 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.NextU32(), b.NextU32()) << i;
}

TEST(Rng, EveryPartOfTheNameMatters) {
  const std::uint64_t base = Rng(1, "x", 2, 3).NextU64();
  EXPECT_NE(Rng(9, "x", 2, 3).NextU64(), base) << "seed";
  EXPECT_NE(Rng(1, "y", 2, 3).NextU64(), base) << "purpose";
  EXPECT_NE(Rng(1, "x", 9, 3).NextU64(), base) << "a";
  EXPECT_NE(Rng(1, "x", 2, 9).NextU64(), base) << "b";
  EXPECT_NE(Rng(1, "x", 3, 2).NextU64(), base) << "order of a and b";
}

TEST(Rng, NeighbouringStreamsAreUncorrelated) {
  double products = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    products += (Rng(1, "x", i).Uniform() - 0.5) * (Rng(1, "x", i + 1).Uniform() - 0.5);
  }
  EXPECT_NEAR(products / kDraws, 0, Tolerance(1.0 / 12));
}

TEST(Rng, UniformMomentsAndRange) {
  Rng rng(1, "moments");
  const Moments moments = MomentsOf([&] {
    const double x = rng.Uniform();
    EXPECT_TRUE(x >= 0 && x < 1) << x;
    return x;
  });
  EXPECT_NEAR(moments.mean, 0.5, Tolerance(std::sqrt(1.0 / 12)));
  EXPECT_NEAR(moments.variance, 1.0 / 12, 0.001);
}

TEST(Rng, UniformBetweenBounds) {
  Rng rng(1, "moments");
  EXPECT_NEAR(MomentsOf([&] { return rng.Uniform(-3, 5); }).mean, 1, Tolerance(8 / std::sqrt(12)));
}

TEST(Rng, NormalMoments) {
  Rng rng(1, "moments");
  const Moments moments = MomentsOf([&] { return rng.Normal(); });
  EXPECT_NEAR(moments.mean, 0, Tolerance(1));
  EXPECT_NEAR(moments.variance, 1, Tolerance(std::sqrt(2)));
}

TEST(Rng, ExponentialMoments) {
  Rng rng(1, "moments");
  const Moments moments = MomentsOf([&] { return rng.Exponential(4); });
  EXPECT_NEAR(moments.mean, 4, Tolerance(4));
  EXPECT_NEAR(moments.variance, 16, Tolerance(16 * std::sqrt(8)));
}

TEST(Rng, PoissonMomentsBelowAndAboveOneChunk) {
  for (const double mean : {0.3, 7.0, 45.0}) {
    Rng rng(1, "moments");
    const Moments moments = MomentsOf([&] { return static_cast<double>(rng.Poisson(mean)); });
    EXPECT_NEAR(moments.mean, mean, Tolerance(std::sqrt(mean)));
    EXPECT_NEAR(moments.variance, mean, Tolerance(std::sqrt(mean + 2 * mean * mean))) << mean;
  }
}

TEST(Rng, PoissonOfZeroIsZero) { EXPECT_EQ(Rng(1, "zero").Poisson(0), 0); }

TEST(Rng, BelowIsEvenOverItsRange) {
  Rng rng(1, "below");
  std::vector<int> counts(6);
  for (int i = 0; i < kDraws; ++i) ++counts[rng.Below(counts.size())];
  const double p = 1.0 / 6;
  for (const int count : counts) {
    EXPECT_NEAR(1.0 * count / kDraws, p, Tolerance(std::sqrt(p * (1 - p))));
  }
}

TEST(Rng, BelowOneIsZero) { EXPECT_EQ(Rng(1, "below").Below(1), 0U); }

TEST(Rng, BelowZeroIsAFaultOfTheProgram) { EXPECT_THROW(Rng(1, "x").Below(0), std::logic_error); }

TEST(StableHash, IsFnv1a) {
  // Published vectors of FNV-1a, 64 bit.
  EXPECT_EQ(StableHash(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(StableHash("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(StableHash("foobar"), 0x85944171f73967e8ULL);
}

}  // namespace
}  // namespace allot
