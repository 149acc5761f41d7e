#include "envs/vector_env.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "small_world.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

VectorEnv::Factory Clusters(ActionMode mode) {
  return [mode](std::int64_t) {
    ClusterEnvOptions options;
    options.mode = mode;
    options.max_jobs = 8;
    options.max_decisions = 12;
    return std::make_unique<ClusterEnv>(Days(), options);
  };
}

// Row i of a batch.
ObservationBuffer Row(const ObservationBuffer& batch, const VectorEnv& env, std::size_t i) {
  ObservationBuffer row(env.spec().single);
  row.CopyRow(batch, i);
  return row;
}

// Draws an action for every environment from its own stream.
class Actors {
 public:
  explicit Actors(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) rng_.emplace_back(11, "actors", i);
  }
  std::vector<float> Draw(const EnvSpec& spec, std::span<const std::uint8_t> mask, std::size_t i) {
    std::vector<float> action;
    RandomAction(spec, mask, &rng_[i], &action);
    return action;
  }
  std::vector<float> DrawAll(const VectorEnv& env) {
    std::vector<float> actions;
    for (std::size_t i = 0; i < rng_.size(); ++i) {
      const ObservationBuffer row = Row(env.observation(), env, i);
      const std::vector<float> action = Draw(env.spec().single, row.bytes("action_mask"), i);
      actions.insert(actions.end(), action.begin(), action.end());
    }
    return actions;
  }

 private:
  std::vector<Rng> rng_;
};

TEST(VectorEnv, EqualsItsEnvironmentsSteppedAlone) {
  constexpr std::size_t kCount = 5;
  for (const ActionMode mode : {ActionMode::kIndex, ActionMode::kSequence, ActionMode::kChoice}) {
    VectorEnv vector(kCount, Clusters(mode), 2);
    std::vector<std::unique_ptr<Env>> alone;
    std::vector<std::uint64_t> seeds;
    vector.Reset(20);
    for (std::size_t i = 0; i < kCount; ++i) {
      alone.push_back(Clusters(mode)(0));
      seeds.push_back(20 + i);
      EXPECT_EQ(alone[i]->Reset(seeds[i]), vector.infos()[i]);
    }
    Actors actors(kCount);
    int ended = 0;
    for (int step = 0; step < 300; ++step) {
      const std::vector<float> actions = actors.DrawAll(vector);
      vector.Step(actions);
      const std::size_t width = actions.size() / kCount;
      for (std::size_t i = 0; i < kCount; ++i) {
        StepResult result = alone[i]->Step(std::span(actions).subspan(i * width, width));
        ASSERT_EQ(result.reward, vector.rewards()[i]);
        ASSERT_EQ(result.terminated, vector.terminated()[i] == 1);
        ASSERT_EQ(result.truncated, vector.truncated()[i] == 1);
        const bool over = result.terminated || result.truncated;
        ASSERT_EQ(over, vector.final_mask()[i] == 1);
        if (over) {
          ++ended;
          ASSERT_EQ(LookAt(*alone[i]), Row(vector.final_observation(), vector, i));
          ASSERT_EQ(result.info, vector.final_infos()[i]);
          result.info = alone[i]->Reset(std::nullopt);
        }
        ASSERT_EQ(result.info, vector.infos()[i]);
        ASSERT_EQ(LookAt(*alone[i]), Row(vector.observation(), vector, i));
      }
    }
    EXPECT_GT(ended, 0) << "no episode ended: autoreset was not tested";
  }
}

TEST(VectorEnv, ThreadCountChangesNothing) {
  constexpr std::size_t kCount = 16;
  for (const ActionMode mode : {ActionMode::kIndex, ActionMode::kSequence, ActionMode::kChoice}) {
    VectorEnv one(kCount, Clusters(mode), 1);
    VectorEnv two(kCount, Clusters(mode), 2);
    VectorEnv eight(kCount, Clusters(mode), 8);
    ASSERT_EQ(eight.threads(), 8);
    Actors actors(kCount);
    for (VectorEnv* env : {&one, &two, &eight}) env->Reset(4);
    for (int step = 0; step < 100; ++step) {
      const std::vector<float> actions = actors.DrawAll(one);
      for (VectorEnv* env : {&one, &two, &eight}) env->Step(actions);
      for (const VectorEnv* env : {&two, &eight}) {
        ASSERT_TRUE(std::equal(one.rewards().begin(), one.rewards().end(), env->rewards().begin()));
        ASSERT_TRUE(std::equal(one.infos().begin(), one.infos().end(), env->infos().begin()));
        for (std::size_t i = 0; i < kCount; ++i) {
          ASSERT_EQ(Row(one.observation(), one, i), Row(env->observation(), *env, i));
          ASSERT_EQ(Row(one.final_observation(), one, i), Row(env->final_observation(), *env, i));
        }
      }
    }
  }
}

TEST(VectorEnv, ParallelEnvironmentsDiffer) {
  VectorEnv env(4, Clusters(ActionMode::kIndex));
  env.Reset(0);
  const std::vector<float> actions(
      static_cast<std::size_t>(4 * env.spec().single.action.elements()));
  for (int step = 0; step < 5; ++step) env.Step(actions);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_NE(Row(env.observation(), env, 0), Row(env.observation(), env, i))
        << "environment " << i;
  }
}

// One tensor of every key, holding the seed and the step; ends after `length` steps.
class Counter : public Env {
 public:
  explicit Counter(int length, int width = 1) : length_(length) {
    spec_.id = "test/Counter-v0";
    spec_.observation = {{"jobs", "float32", {1}, 0, 1e9},
                         {"context", "float32", {1}, 0, 1e9},
                         {"job_mask", "uint8", {1}, 0, 1},
                         {"granted", "float32", {1}, 0, 1e9},
                         {"action_mask", "uint8", {1}, 0, 1}};
    spec_.action = {"action", "float32", {width}, -1, 1};
  }
  const EnvSpec& spec() const override { return spec_; }
  StepInfo Reset(std::optional<std::uint64_t> seed) override {
    seed_ = seed.value();
    step_ = 0;
    return {};
  }
  StepResult Step(std::span<const float> action) override {
    if (action[0] < 0) throw RunError("environment with seed {} failed", seed_);
    ++step_;
    return {.reward = static_cast<double>(step_),
            .terminated = step_ == length_,
            .truncated = false,
            .info = {}};
  }
  void Observe(const ObservationView& view) const override {
    view.floats(0)[0] = static_cast<float>(seed_);
    view.floats(1)[0] = static_cast<float>(step_);
  }

 private:
  EnvSpec spec_;
  int length_;
  std::uint64_t seed_ = 0;
  int step_ = 0;
};

VectorEnv::Factory Counters(int length) {
  return [length](std::int64_t) { return std::make_unique<Counter>(length); };
}

TEST(VectorEnv, AutoresetKeepsTheFinalObservation) {
  VectorEnv env(2, Counters(3));
  env.Reset(10);
  const std::vector<float> actions(2);
  for (int step = 0; step < 3; ++step) env.Step(actions);
  EXPECT_EQ(env.final_mask()[1], 1);
  EXPECT_EQ(env.rewards()[1], 3);
  EXPECT_EQ(env.final_observation().floats("jobs")[1], 11);
  EXPECT_EQ(env.final_observation().floats("context")[1], 3);
  EXPECT_EQ(env.observation().floats("jobs")[1], static_cast<float>(NextEpisodeSeed(11)));
  EXPECT_EQ(env.observation().floats("context")[1], 0);
  env.Step(actions);
  EXPECT_EQ(env.final_mask()[1], 0);
}

TEST(VectorEnv, ExplicitSeedsReachTheirEnvironments) {
  VectorEnv env(3, Counters(3));
  env.Reset(std::vector<std::uint64_t>{7, 5, 9});
  const std::span<const float> jobs = env.observation().floats("jobs");
  EXPECT_EQ(std::vector<float>(jobs.begin(), jobs.end()), (std::vector<float>{7, 5, 9}));
  env.Reset(std::nullopt);
  EXPECT_EQ(std::vector<float>(jobs.begin(), jobs.end()),
            (std::vector<float>{static_cast<float>(NextEpisodeSeed(7)),
                                static_cast<float>(NextEpisodeSeed(5)),
                                static_cast<float>(NextEpisodeSeed(9))}));
}

TEST(VectorEnv, NextStepResetsInTheStepAfterTheEnd) {
  VectorEnv env(1, Counters(2), 1, Autoreset::kNextStep);
  env.Reset(10);
  const std::vector<float> actions(1);
  env.Step(actions);
  env.Step(actions);
  EXPECT_EQ(env.terminated()[0], 1);
  EXPECT_EQ(env.observation().floats("context")[0], 2) << "the last observation of the episode";
  env.Step(actions);
  EXPECT_EQ(env.terminated()[0], 0);
  EXPECT_EQ(env.rewards()[0], 0);
  EXPECT_EQ(env.observation().floats("jobs")[0], static_cast<float>(NextEpisodeSeed(10)));
}

TEST(VectorEnv, WithoutAutoresetTheCallerResetsByMask) {
  VectorEnv env(2, Counters(2), 1, Autoreset::kDisabled);
  const std::vector<std::optional<std::uint64_t>> seeds = {std::nullopt, 5};
  EXPECT_THROW(env.Reset(seeds, std::vector<std::uint8_t>{0, 1}), Error) << "the first is of all";
  env.Reset(10);
  const std::vector<float> actions(2);
  env.Step(actions);
  env.Step(actions);
  EXPECT_THROW(env.Step(actions), Error);
  env.Reset(seeds, std::vector<std::uint8_t>{1, 1});
  EXPECT_EQ(env.observation().floats("jobs")[0], static_cast<float>(NextEpisodeSeed(10)));
  EXPECT_EQ(env.observation().floats("jobs")[1], 5);
  env.Step(actions);
  env.Reset(seeds, std::vector<std::uint8_t>{0, 1});
  EXPECT_EQ(env.observation().floats("context")[0], 1) << "not reset";
  EXPECT_EQ(env.observation().floats("context")[1], 0);
}

TEST(VectorEnv, SentEnvironmentsAreReceivedEachOnce) {
  VectorEnv env(4, Counters(100), 2, Autoreset::kNextStep);
  env.Reset(0);
  const std::vector<std::int64_t> all = {0, 1, 2, 3};
  const std::vector<float> actions(4);
  env.Send(actions, all);
  EXPECT_THROW(env.Step(actions), Error) << "in flight";
  EXPECT_THROW(env.AddObservation(), Error) << "in flight";
  EXPECT_THROW(env.Send(std::vector<float>{0}, std::vector<std::int64_t>{2}), Error);
  std::vector<std::int64_t> received = env.Receive(3);
  EXPECT_THROW(env.Receive(2), Error) << "one is in flight";
  received.push_back(env.Receive(1).front());
  std::sort(received.begin(), received.end());
  EXPECT_EQ(received, all);
  env.Step(actions);
  EXPECT_EQ(env.rewards()[3], 2);
}

TEST(VectorEnv, BuffersStayWhereTheyAre) {
  VectorEnv env(4, Counters(2), 2);
  const float* observation = env.observation().floats("jobs").data();
  const double* rewards = env.rewards().data();
  env.Reset(0);
  const std::vector<float> actions(4);
  for (int step = 0; step < 10; ++step) env.Step(actions);
  EXPECT_EQ(env.observation().floats("jobs").data(), observation);
  EXPECT_EQ(env.rewards().data(), rewards);
}

TEST(VectorEnv, ObservationsShownElsewhereAreTheSame) {
  VectorEnv moved(3, Clusters(ActionMode::kIndex), 2, Autoreset::kDisabled);
  VectorEnv still(3, Clusters(ActionMode::kIndex), 2, Autoreset::kDisabled);
  for (int i = 0; i < 2; ++i) moved.AddObservation();
  moved.Reset(4);
  still.Reset(4);
  Actors actors(3);
  for (std::size_t step = 1; step <= 6; ++step) {
    const std::vector<float> actions = actors.DrawAll(still);
    const ObservationBuffer before = moved.observation();
    moved.ShowIn(step % 3);
    moved.Step(actions);
    still.Step(actions);
    EXPECT_EQ(moved.observation(), still.observation()) << "step " << step;
    EXPECT_EQ(moved.observation((step - 1) % 3), before) << "kept from before step " << step;
  }
  const std::vector<std::optional<std::uint64_t>> seeds = {std::nullopt, 9, std::nullopt};
  const std::vector<std::uint8_t> second = {0, 1, 0};
  moved.ShowIn(1);
  moved.Reset(seeds, second);
  still.Reset(seeds, second);
  EXPECT_EQ(moved.observation(), still.observation()) << "also rows that are not reset";
}

TEST(VectorEnv, LowestFailureIsRethrownAfterAllOthersStepped) {
  for (const int threads : {1, 4}) {
    VectorEnv env(8, Counters(100), threads);
    env.Reset(0);
    std::vector<float> actions(8);
    actions[6] = actions[3] = -1;
    EXPECT_EQ(ErrorOf(ExitCode::kRunFailed, [&] { env.Step(actions); }),
              "environment with seed 3 failed");
    const std::span<const float> steps = env.observation().floats("context");
    EXPECT_EQ(std::vector<float>(steps.begin(), steps.end()),
              (std::vector<float>{1, 1, 1, 0, 1, 1, 0, 1}));
    EXPECT_THROW(env.Step(std::vector<float>(8)), Error) << "stepped on without a reset";
    env.Reset(0);
    EXPECT_NO_THROW(env.Step(std::vector<float>(8)));
  }
}

TEST(VectorEnv, MisuseIsAUsageError) {
  EXPECT_THROW(VectorEnv(0, Counters(3)), Error) << "no environments";
  EXPECT_THROW(
      VectorEnv(
          2, [](std::int64_t i) { return std::make_unique<Counter>(3, static_cast<int>(i) + 1); }),
      Error)
      << "different spaces";
  VectorEnv env(2, Counters(3));
  EXPECT_THROW(env.Step(std::vector<float>(2)), Error) << "step before reset";
  EXPECT_THROW(env.Reset(std::vector<std::uint64_t>{1}), Error) << "too few seeds";
  env.Reset(0);
  EXPECT_THROW(env.Step(std::vector<float>(3)), Error) << "too many actions";
}

TEST(VectorEnv, FewEnvironmentsTakeFewThreads) {
  EXPECT_EQ(VectorEnv(3, Counters(3), 8).threads(), 1);
  EXPECT_EQ(VectorEnv(4, Counters(3), 8).threads(), 2);
}

TEST(VectorEnv, SpecNamesTheAutoresetMode) {
  EXPECT_EQ(VectorEnv(2, Counters(3)).spec().autoreset_mode, "SameStep");
}

}  // namespace
}  // namespace allot
