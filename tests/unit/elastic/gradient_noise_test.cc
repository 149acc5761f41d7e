#include "elastic/gradient_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace allot {
namespace {

// Gradients of batches of samples whose own gradients are normal: mean `mean` in every coordinate,
// variance `variance`. So |G|^2 = size mean^2 and tr(S) = size variance.
class Gradients {
 public:
  Gradients(std::size_t size, double mean, double variance)
      : size_(size), mean_(mean), variance_(variance) {}
  std::vector<float> OfBatch(double samples) {
    std::normal_distribution<double> normal(mean_, std::sqrt(variance_ / samples));
    std::vector<float> gradient(size_);
    for (float& value : gradient) value = static_cast<float>(normal(random_));
    return gradient;
  }

 private:
  std::size_t size_;
  double mean_;
  double variance_;
  std::mt19937 random_{7};
};

void AddStep(int parts, double samples, Gradients* source, GradientNoise* noise) {
  std::vector<float> average;
  double mean_square = 0;
  for (int i = 0; i < parts; ++i) {
    const std::vector<float> one = source->OfBatch(samples);
    mean_square += SquaredNorm(one) / parts;
    average.resize(one.size(), 0);
    for (std::size_t d = 0; d < one.size(); ++d) average[d] += one[d] / static_cast<float>(parts);
  }
  noise->Add(parts, samples, mean_square, SquaredNorm(average));
}

TEST(GradientNoise, FindsTheScaleThatNormsWereMadeFrom) {
  // E|g_B|^2 = |G|^2 + tr(S) / B with |G|^2 = 4 and tr(S) = 200: the noise scale is 50.
  GradientNoise noise;
  for (int i = 1; i <= 20; ++i) noise.Add(4, 16, 4 + 200.0 / 16, 4 + 200.0 / 64);
  EXPECT_NEAR(noise.scale(), 50, 1e-9);
  EXPECT_NEAR(noise.signal(), 4, 1e-9) << "averages begin without a bias";
  EXPECT_NEAR(noise.variance(), 200, 1e-9);
}

TEST(GradientNoise, ConvergesOnDrawnGradientsOfSeveralWorkers) {
  // |G|^2 = 2000 x 0.01 = 20, tr(S) = 2000 x 1 = 2000: 100 samples.
  for (const int parts : {2, 4, 8}) {
    Gradients source(2000, 0.1, 1);
    GradientNoise noise;
    for (int step = 0; step < 500; ++step) AddStep(parts, 16, &source, &noise);
    EXPECT_NEAR(noise.scale(), 100, 5) << parts << " parts";
    EXPECT_NEAR(noise.signal(), 20, 1) << parts << " parts";
    EXPECT_NEAR(noise.variance(), 2000, 40) << parts << " parts";
  }
}

TEST(GradientNoise, IsOfASampleWhateverTheBatchThatItIsMeasuredWith) {
  for (const double samples : {4.0, 64.0}) {
    Gradients source(2000, 0.1, 1);
    GradientNoise noise;
    for (int step = 0; step < 500; ++step) AddStep(4, samples, &source, &noise);
    EXPECT_NEAR(noise.scale(), 100, 10) << samples << " samples";
  }
}

TEST(GradientNoise, ConvergesOnConsecutiveGradientsOfOneWorker) {
  Gradients source(2000, 0.1, 1);
  GradientNoise noise;
  for (int step = 0; step < 500; ++step) noise.AddAlone(source.OfBatch(32), 32);
  EXPECT_NEAR(noise.scale(), 100, 5);
  EXPECT_TRUE(noise.averages().paired);
}

TEST(GradientNoise, FollowsNoiseThatGrows) {
  Gradients before(2000, 0.1, 1), after(2000, 0.1, 9);
  GradientNoise noise;
  for (int step = 0; step < 300; ++step) AddStep(4, 16, &before, &noise);
  for (int step = 0; step < 600; ++step) AddStep(4, 16, &after, &noise);
  EXPECT_NEAR(noise.scale(), 900, 90);
}

TEST(GradientNoise, PairsAreThrownAwayOnceSeveralGradientsAreSeen) {
  GradientNoise noise;
  std::vector<float> moving{1, 1};
  for (int step = 0; step < 50; ++step) {
    moving[0] = -moving[0];
    noise.AddAlone(moving, 8);
  }
  noise.Add(4, 16, 4 + 200.0 / 16, 4 + 200.0 / 64);
  EXPECT_NEAR(noise.scale(), 50, 1e-9);
  EXPECT_FALSE(noise.averages().paired);
  noise.AddAlone(moving, 8);
  noise.AddAlone(moving, 8);
  EXPECT_NEAR(noise.scale(), 50, 1e-9) << "and pairs do not come back";
}

TEST(GradientNoise, OneGradientOrOneBatchOfItsSizeSaysNothing) {
  GradientNoise noise;
  noise.Add(1, 64, 5, 5);
  EXPECT_TRUE(std::isnan(noise.scale()));
  const std::vector<float> gradient{1, 2};
  noise.AddAlone(gradient, 8);
  noise.AddAlone(gradient, 16);  // not of as many samples
  EXPECT_EQ(noise.averages().weight, 0);
}

TEST(GradientNoise, NormsThatAreNotFiniteAreLeftOut) {
  GradientNoise noise;
  noise.Add(4, 16, 4 + 200.0 / 16, 4 + 200.0 / 64);
  noise.Add(4, 16, kUnknown, 5);
  noise.Add(4, 16, 5, kNever);
  const std::vector<float> broken{static_cast<float>(kUnknown)};
  noise.AddAlone(broken, 8);
  noise.AddAlone(broken, 8);
  EXPECT_NEAR(noise.scale(), 50, 1e-9);
}

TEST(GradientNoise, NoiseThatHidesTheSignalHasTheLeastScaleThatStepsAllow) {
  // |G|^2 = 0: the estimates of 64 samples spread by some 2000^0.5 / 64 about it, their average
  // over 200 steps by a fourteenth of that: 2000 samples' variance / 0.07, not less than a tenth of
  // it.
  Gradients source(2000, 0, 1);
  GradientNoise noise;
  for (int step = 0; step < 500; ++step) AddStep(4, 16, &source, &noise);
  EXPECT_GT(noise.scale(), 3000);
  EXPECT_LT(noise.scale(), 1e6);
}

TEST(GradientNoise, OneStepWithoutSignalSaysNothing) {
  GradientNoise noise;
  noise.Add(2, 16, 10, 4);  // less than half: the signal comes out negative
  EXPECT_LT(noise.signal(), 0);
  EXPECT_TRUE(std::isnan(noise.scale()));
}

TEST(GradientNoise, ANewcomerTakesOverWhatIsKnown) {
  GradientNoise noise, newcomer;
  noise.Add(4, 16, 4 + 200.0 / 16, 4 + 200.0 / 64);
  newcomer.Restore(noise.averages());
  EXPECT_EQ(newcomer.scale(), noise.scale());
}

}  // namespace
}  // namespace allot
