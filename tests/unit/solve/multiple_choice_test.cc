#include "solve/multiple_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.h"
#include "solve/choice_prices.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

// The best sum, by dynamic programming over what is left of every type.
class BestOfAll {
 public:
  explicit BestOfAll(const MultipleChoiceProblem& problem) : problem_(problem) {
    std::size_t states = 1;
    for (const std::int32_t gpus : problem.capacity) states *= static_cast<std::size_t>(gpus) + 1;
    std::vector<double> best(states, 0);
    for (std::size_t job = 0; job < problem.jobs(); ++job) {
      std::vector<double> next = best;
      for (std::size_t state = 0; state < states; ++state) {
        for (const ChoiceOption& option : problem.of(job)) {
          const std::size_t stride = Stride(option.type);
          const auto gpus = static_cast<std::size_t>(option.gpus);
          const std::size_t left =
              state / stride % (static_cast<std::size_t>(problem.capacity[option.type]) + 1);
          if (left < gpus) continue;
          next[state] = std::max(next[state], best[state - gpus * stride] + option.gain);
        }
      }
      best = next;
    }
    best_ = best.back();
  }
  double best() const { return best_; }

 private:
  std::size_t Stride(std::int32_t type) const {
    std::size_t stride = 1;
    for (std::int32_t t = 0; t < type; ++t) {
      stride *= static_cast<std::size_t>(problem_.capacity[t]) + 1;
    }
    return stride;
  }
  const MultipleChoiceProblem& problem_;
  double best_ = 0;
};

MultipleChoiceProblem RandomChoices(std::uint64_t seed, bool degenerate) {
  Rng rng(seed, "random-choice");
  MultipleChoiceProblem problem;
  const auto types = 1 + rng.Below(3);
  for (std::size_t t = 0; t < types; ++t) {
    problem.capacity.push_back(static_cast<std::int32_t>(rng.Below(t == 0 ? 17 : 9)));
  }
  std::vector<ChoiceOption> options;
  const auto jobs = rng.Below(14);
  for (std::size_t job = 0; job < jobs; ++job) {
    options.clear();
    const auto count = rng.Below(7);
    for (std::size_t i = 0; i < count; ++i) {
      const double gain = degenerate ? std::round(rng.Uniform(-1, 5)) / 2 : rng.Uniform(-0.2, 2);
      const auto gpus = static_cast<std::int32_t>(1 + rng.Below(degenerate ? 3 : 9));
      options.push_back({static_cast<std::int32_t>(rng.Below(types)), gpus, gain});
    }
    problem.Add(options);
  }
  return problem;
}

void ExpectBest(const MultipleChoiceProblem& problem, const std::string& where) {
  const MultipleChoiceAnswer answer = SolveMultipleChoice(problem);
  std::vector<std::int32_t> left = problem.capacity;
  double gain = 0;
  for (std::size_t job = 0; job < problem.jobs(); ++job) {
    if (answer.chosen[job] < 0) continue;
    const ChoiceOption& option = problem.of(job)[static_cast<std::size_t>(answer.chosen[job])];
    left[static_cast<std::size_t>(option.type)] -= option.gpus;
    gain += option.gain;
  }
  for (const std::int32_t gpus : left) EXPECT_GE(gpus, 0) << where << ": more GPUs than there are";
  EXPECT_DOUBLE_EQ(answer.gain, gain) << where;
  EXPECT_TRUE(answer.proved) << where;
  EXPECT_NEAR(answer.gain, BestOfAll(problem).best(), 1e-8) << where;
  EXPECT_GE(answer.bound, answer.gain - 1e-9) << where;
}

TEST(MultipleChoiceTest, AnswersAreTheBest) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    ExpectBest(RandomChoices(seed, false), fmt::format("seed {}", seed));
  }
}

TEST(MultipleChoiceTest, AnswersAreTheBestWhereMuchIsEqual) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    ExpectBest(RandomChoices(seed, true), fmt::format("seed {}", seed));
  }
}

// More GPUs of a type than a byte counts, and jobs that hold many of them.
TEST(MultipleChoiceTest, AnswersAreTheBestOnLargeClusters) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed, "large-choice");
    MultipleChoiceProblem problem;
    problem.capacity = {static_cast<std::int32_t>(20 * (4 + rng.Below(12)))};
    std::vector<ChoiceOption> options;
    const auto jobs = 2 + rng.Below(10);
    for (std::size_t job = 0; job < jobs; ++job) {
      options.clear();
      const auto count = 1 + rng.Below(5);
      for (std::size_t i = 0; i < count; ++i) {
        const auto nodes = static_cast<std::int32_t>(1 + rng.Below(8));
        options.push_back({0, 20 * nodes, nodes * rng.Uniform(0.1, 1)});
      }
      problem.Add(options);
    }
    ExpectBest(problem, fmt::format("seed {}", seed));
  }
}

TEST(MultipleChoiceTest, PricesBoundEverySolution) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const MultipleChoiceProblem problem = RandomChoices(seed, seed % 2 == 0);
    const ChoicePrices prices = FindChoicePrices(problem);
    EXPECT_GE(prices.bound, BestOfAll(problem).best() - 1e-9) << "seed " << seed;
    for (const double price : prices.price) EXPECT_GE(price, 0) << "seed " << seed;
  }
}

TEST(MultipleChoiceTest, OneOfTwoEqualJobsRuns) {
  MultipleChoiceProblem problem;
  problem.capacity = {4};
  for (int i = 0; i < 2; ++i) problem.Add({{{0, 4, 1.0}}});
  const MultipleChoiceAnswer answer = SolveMultipleChoice(problem);
  EXPECT_EQ(answer.gain, 1);
  EXPECT_EQ(std::count(answer.chosen.begin(), answer.chosen.end(), -1), 1);
}

TEST(MultipleChoiceTest, ALimitOfLabelsStillGivesAnAnswerAndABound) {
  int unproved = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const MultipleChoiceProblem problem = RandomChoices(seed, false);
    const MultipleChoiceAnswer answer = SolveMultipleChoice(problem, 1e-9, 2);
    const double best = BestOfAll(problem).best();
    EXPECT_LE(answer.gain, best + 1e-9) << "seed " << seed;
    EXPECT_GE(answer.bound, best - 1e-9) << "seed " << seed;
    EXPECT_TRUE(!answer.proved || answer.gain >= best - 1e-8) << "seed " << seed;
    unproved += answer.proved ? 0 : 1;
  }
  EXPECT_GT(unproved, 0);
}

TEST(MultipleChoiceTest, OptionsThatCannotBeAreRefused) {
  const auto solve = [](ChoiceOption option) {
    MultipleChoiceProblem problem;
    problem.capacity = {4};
    problem.Add({{option}});
    (void)SolveMultipleChoice(problem);
  };
  ExpectError(ExitCode::kBadData, {"type 1", "job 0"}, [&] { solve({1, 1, 1.0}); });
  ExpectError(ExitCode::kBadData, {"0 GPUs"}, [&] { solve({0, 0, 1.0}); });
  ExpectError(ExitCode::kBadData, {"gain nan"}, [&] { solve({0, 1, std::nan("")}); });
}

}  // namespace
}  // namespace allot
