// What every registered training method promises.

#include <gtest/gtest.h>

#include "agents/learned/agent.h"
#include "agents/training/trainer.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

// A method and a network that it trains, with sizes for tests.
struct Pair {
  std::string method;
  std::string network;
};

std::vector<Pair> Pairs() {
  std::vector<Pair> pairs;
  for (const TrainerInfo& method : Registry<TrainerInfo>::Global().entries()) {
    for (const NetworkInfo& network : Registry<NetworkInfo>::Global().entries()) {
      if (!method.Trains(network)) continue;
      pairs.push_back({method.id, network.id + ":hidden=4"});
    }
  }
  return pairs;
}

class EveryTrainer : public testing::TestWithParam<Pair> {
 protected:
  static TrainerOptions Options(int threads) {
    TrainerOptions options;
    options.iterations = 2;
    options.workloads = 2;
    options.max_decisions = 100;
    options.teacher = [] { return MakePolicy("optimus"); };
    options.threads = threads;
    return options;
  }
  static TrainerState Start() {
    TrainerState state;
    state.weights = MakeNetwork(GetParam().network, 1);
    return state;
  }
  static std::unique_ptr<Trainer> Make(int threads, TrainerState state) {
    return MakeTrainer(
        GetParam().method, Options(threads), [](std::uint64_t seed) { return SmallScenario(seed); },
        std::move(state));
  }
};

TEST_P(EveryTrainer, ThreadsDoNotChangeTheWeights) {
  const auto one = Make(1, Start());
  const auto many = Make(3, Start());
  for (int i = 0; i < 2; ++i) {
    one->Step();
    many->Step();
  }
  EXPECT_NE(one->state().weights, Start().weights);
  EXPECT_EQ(one->state().weights, many->state().weights);
  EXPECT_EQ(one->state().adam, many->state().adam);
  EXPECT_EQ(one->state().memory, many->state().memory);
}

TEST_P(EveryTrainer, ResumesBitForBit) {
  const auto whole = Make(1, Start());
  whole->Step();
  const auto resumed = Make(2, whole->state());
  const IterationReport expected = whole->Step();
  const IterationReport report = resumed->Step();
  EXPECT_EQ(resumed->state().weights, whole->state().weights);
  EXPECT_EQ(resumed->state().memory, whole->state().memory);
  EXPECT_EQ(resumed->state().episodes, whole->state().episodes);
  EXPECT_EQ(report.learning_rate, expected.learning_rate);
  EXPECT_EQ(report.iteration, 2);
}

// Of the tensors of a network that has some for each of two worlds: those that one iteration moved,
// when all its episodes were of the first.
TEST(Evolution, LearnsOfAWorldFromItsEpisodesOnly) {
  TrainerState start;
  start.weights = MakeNetwork("offsets:hidden=2", 1);
  for (const char* world : {"played", "not-played"}) {
    NetworkOf(start.weights).begin_in(&start.weights, world, "index");
  }
  TrainerOptions options;
  options.workloads = 2;
  options.max_decisions = 100;
  options.world_of = [](std::uint64_t) {
    return EpisodeWorld{"played", [] { return MakePolicy("index"); }};
  };
  const auto trainer = MakeTrainer(
      "evolution:pairs=2,sigma=0.5", options,
      [](std::uint64_t seed) { return SmallScenario(seed); }, start);
  trainer->Step();
  const auto moved = [&](std::string_view name) {
    return trainer->state().weights[name] != start.weights[name];
  };
  EXPECT_TRUE(moved("out.job"));
  EXPECT_TRUE(moved("out.job@played"));
  EXPECT_FALSE(moved("out.job@not-played"));
}

INSTANTIATE_TEST_SUITE_P(All, EveryTrainer, testing::ValuesIn(Pairs()), [](const auto& tested) {
  std::string name = tested.param.method + "_" + ParseNamedParams(tested.param.network).name;
  for (char& c : name) c = std::isalnum(c) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace allot
