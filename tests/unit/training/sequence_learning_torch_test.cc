// What trainers of sequence networks stand on: losses, exploration, replay, imitation.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "agents/training/replay_memory.h"
#include "agents/training/sequence_imitation.h"
#include "agents/training/sequence_learner.h"
#include "envs/setting.h"
#include "sim/simulated_cluster.h"
#include "tests/unit/core/expect_error.h"
#include "tests/unit/training/small_world.h"

namespace allot {
namespace {

TEST(ActorLoss, GradientAgreesWithCentralDifferences) {
  const std::vector<float> logits = {0.3F, -1.0F, 2.0F, 0.5F};
  const std::vector<std::uint8_t> mask = {1, 0, 1, 1};
  const auto loss = [&](std::vector<float> at, std::span<float> gradient) {
    return ActorLoss(at, mask, 3, -0.7, 0.2, gradient);
  };
  std::vector<float> gradient(4, 0.0F);
  std::vector<float> unused(4);
  loss(logits, gradient);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    std::vector<float> up = logits;
    std::vector<float> down = logits;
    up[i] += 1e-2F;
    down[i] -= 1e-2F;
    EXPECT_NEAR(gradient[i], (loss(up, unused) - loss(down, unused)) / 2e-2, 1e-4) << i;
  }
  EXPECT_EQ(gradient[1], 0.0F) << "of an action that is not legal";
}

// One moment of DL2's world and what is drawn there.
class ExplorerTest : public testing::Test {
 protected:
  // Frequencies of the actions at the first choice, and the chances that were told.
  void DrawAt(const ExplorationOptions& options) {
    const auto scenario = MakeSetting("dl2:size=S").episodes(3);
    const NetWeights weights = MakeNetwork("flat:window=4,hidden=4,first-bundle=false", 1);
    SequenceDecision decision({weights, {}}, MakeSequenceNet(weights));
    SimulatedCluster cluster(*scenario);
    Explorer explorer(options);
    Rng rng(1, "explorer-test");
    Allocation allocation;
    decision.Play(
        cluster.Observe(),
        [&](const SequenceDecision& choice) {
          if (choice.state().granted(choice.state().row_of(0)) < 0) return 0;  // a lone worker
          frequency_.assign(choice.mask().size(), 0.0);
          chance_.assign(choice.mask().size(), 0.0);
          for (int i = 0; i < kDraws; ++i) {
            const DrawnAction drawn = explorer.Draw(choice, &rng);
            frequency_[static_cast<std::size_t>(drawn.action)] += 1.0 / kDraws;
            chance_[static_cast<std::size_t>(drawn.action)] = std::exp(drawn.log_chance);
          }
          return choice.state().done_action();
        },
        &allocation);
  }

  static constexpr int kDraws = 20000;
  std::vector<double> frequency_;
  std::vector<double> chance_;
};

TEST_F(ExplorerTest, ToldChancesAreThoseOfTheDraws) {
  for (const ExplorationRules rules : {ExplorationRules::kPaper, ExplorationRules::kCode}) {
    DrawAt({.share = 0.4, .rules = rules});
    ASSERT_FALSE(chance_.empty());
    EXPECT_NEAR(std::accumulate(chance_.begin(), chance_.end(), 0.0), 1.0, 1e-6);
    for (std::size_t a = 0; a < chance_.size(); ++a) {
      EXPECT_NEAR(frequency_[a], chance_[a], 0.02) << "action " << a;
    }
  }
}

TEST_F(ExplorerTest, ALoneWorkerGetsAServer) {
  DrawAt({.share = 0.9});
  EXPECT_GT(frequency_.at(1), 0.9);
  DrawAt({.share = 0});
  EXPECT_LT(frequency_.at(1), 0.5);
}

SequenceSamples SomeSamples() {
  const NetWeights weights = MakeNetwork("shared:hidden=4", 1);
  return RunSequenceRollout(SmallScenario(1), weights, MakeSequenceNet(weights), {}, 1, 0, 0)
      .samples;
}

TEST(ReplayMemory, KeepsTheLatestAndComesBackFromTensors) {
  const SequenceSamples samples = SomeSamples();
  ASSERT_GT(samples.size(), 30U);
  std::vector<float> targets(samples.size());
  std::iota(targets.begin(), targets.end(), 0.0F);
  ReplayMemory memory(20);
  memory.Add(samples, EveryIndex(samples.size()), targets);
  EXPECT_EQ(memory.size(), 20U);
  EXPECT_EQ(memory.targets().back(), targets.back());
  EXPECT_EQ(memory.samples().action.back(), samples.action.back());
  memory.SetPriority(3, 2.5);

  TensorMap tensors;
  memory.Save(&tensors);
  ReplayMemory other(20);
  other.Load(tensors);
  std::vector<std::size_t> drawn[2];
  std::vector<double> weights[2];
  Rng first(1, "draw");
  Rng second(1, "draw");
  memory.Draw(50, true, 0.5, &first, &drawn[0], &weights[0]);
  other.Draw(50, true, 0.5, &second, &drawn[1], &weights[1]);
  EXPECT_EQ(drawn[0], drawn[1]);
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_EQ(memory.samples().jobs, other.samples().jobs);
  EXPECT_EQ(memory.samples().first_action, other.samples().first_action);
}

TEST(ReplayMemory, PrioritiesDecideAndWeightsUndoIt) {
  const SequenceSamples samples = SomeSamples();
  ReplayMemory memory(10);
  memory.Add(samples, EveryIndex(10), std::vector<float>(10, 0.0F));
  memory.SetPriority(7, 9.0);  // the others have 1
  std::vector<std::size_t> drawn;
  std::vector<double> weights;
  Rng rng(1, "draw");
  memory.Draw(1000, true, 1.0, &rng, &drawn, &weights);
  int sevens = 0;
  double weight_of_sevens = 0;
  double weight_of_others = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    sevens += drawn[i] == 7 ? 1 : 0;
    (drawn[i] == 7 ? weight_of_sevens : weight_of_others) += weights[i];
  }
  EXPECT_NEAR(sevens, 500, 10);
  EXPECT_NEAR(weight_of_others / weight_of_sevens, 9.0, 0.5) << "nine others, each as heavy";
  EXPECT_NEAR(weight_of_others + weight_of_sevens, 1000.0, 1e-6);
}

TEST(SequenceImitation, TheTeachersAllocationIsLearned) {
  const Setting setting = MakeSetting("dl2:size=S");
  std::vector<Lesson> lessons;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    lessons.push_back(
        {.scenario = setting.episodes(seed), .teacher = [] { return MakePolicy("optimus"); }});
  }
  const NetWeights start = MakeNetwork("shared:hidden=8", 1);
  SequenceImitationOptions options;
  options.epochs = 3;
  options.passes = 2;
  options.threads = 2;
  std::vector<double> losses;
  const NetWeights learned = ImitateIncrements(
      lessons, options, start,
      [&](const SequenceImitationReport& report) { losses.push_back(report.loss); });
  ASSERT_EQ(losses.size(), 6U);
  EXPECT_LT(losses.back(), losses.front());
  EXPECT_GT(IncrementAgreement(lessons, {learned, {}}, 1),
            IncrementAgreement(lessons, {start, {}}, 1));
  options.threads = 1;
  EXPECT_EQ(ImitateIncrements(lessons, options, start, [](const auto&) {}), learned)
      << "threads changed the weights";
}

TEST(Collect, EqualArrivalsNeedTwoRollouts) {
  ExpectError(ExitCode::kUsage, {"rollouts >= 2", "got 1"},
              [] { RequireRollouts(Baseline::kArrivals, 1); });
  RequireRollouts(Baseline::kCritic, 1);
}

}  // namespace
}  // namespace allot
