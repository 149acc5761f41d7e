#include "envs/cluster_env.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "core/error.h"
#include "small_world.h"
#include "tests/unit/core/expect_error.h"

namespace allot {
namespace {

ClusterEnvOptions Options(ActionMode mode, int max_jobs = 16) {
  ClusterEnvOptions options;
  options.mode = mode;
  options.max_jobs = max_jobs;
  return options;
}

struct Episode {
  ObservationBuffer first;
  std::vector<double> rewards;
  std::vector<double> times;
  bool terminated = false;
  bool truncated = false;
  double return_() const { return std::accumulate(rewards.begin(), rewards.end(), 0.0); }
  bool operator==(const Episode&) const = default;
};

Episode Play(ClusterEnv& env, std::optional<std::uint64_t> seed) {
  Episode episode;
  Rng rng(3, "play");
  env.Reset(seed);
  episode.first = LookAt(env);
  std::vector<float> action;
  StepResult result;
  do {
    RandomAction(env.spec(), LookAt(env).bytes("action_mask"), &rng, &action);
    result = env.Step(action);
    episode.rewards.push_back(result.reward);
    episode.times.push_back(result.info.time_s);
  } while (!result.terminated && !result.truncated);
  episode.terminated = result.terminated;
  episode.truncated = result.truncated;
  return episode;
}

TEST(ClusterEnv, EqualSeedsGiveEqualEpisodes) {
  ClusterEnv a(Days(), Options(ActionMode::kIndex));
  ClusterEnv b(Days(), Options(ActionMode::kIndex));
  EXPECT_EQ(Play(a, 2), Play(b, 2));
}

TEST(ClusterEnv, ResetsWithoutASeedGoOnToOtherEpisodes) {
  ClusterEnv env(Days(), Options(ActionMode::kIndex));
  const Episode first = Play(env, 0);
  const Episode second = Play(env, std::nullopt);
  EXPECT_NE(first.rewards, second.rewards);
  EXPECT_NE(second.rewards, Play(env, std::nullopt).rewards);
}

TEST(ClusterEnv, ReseedingRepeatsTheStreamOfEpisodes) {
  ClusterEnv env(Days(), Options(ActionMode::kIndex));
  const Episode first = Play(env, 1);
  const Episode second = Play(env, std::nullopt);
  EXPECT_EQ(first, Play(env, 1));
  EXPECT_EQ(second, Play(env, std::nullopt));
}

TEST(ClusterEnv, AbandonedEpisodeLeavesNoTrace) {
  ClusterEnv env(Days(), Options(ActionMode::kSequence));
  const Episode whole = Play(env, 0);
  env.Reset(3);
  std::vector<float> action = {0};
  for (int i = 0; i < 5; ++i) env.Step(action);
  EXPECT_EQ(whole, Play(env, 0));
}

TEST(ClusterEnv, StepBeforeTheFirstResetIsAUsageError) {
  ClusterEnv env(FewJobs(3), Options(ActionMode::kSequence));
  EXPECT_THROW(env.Step(std::vector<float>{0}), Error);
}

TEST(ClusterEnv, StepAfterTheEndIsAUsageError) {
  ClusterEnv env(FewJobs(3), Options(ActionMode::kIndex));
  Play(env, 0);
  ExpectError(ExitCode::kUsage, {"reset"}, [&] {
    env.Step(std::vector<float>(static_cast<std::size_t>(env.spec().action.elements())));
  });
}

TEST(ClusterEnv, ActionOfTheWrongSizeIsAUsageError) {
  for (const ActionMode mode : {ActionMode::kIndex, ActionMode::kSequence, ActionMode::kChoice}) {
    ClusterEnv env(FewJobs(3), Options(mode));
    env.Reset(0);
    EXPECT_THROW(env.Step(std::vector<float>(7)), Error);
  }
}

TEST(ClusterEnv, DrainedWorkloadTerminates) {
  ClusterEnv env(FewJobs(6), Options(ActionMode::kIndex));
  const Episode episode = Play(env, 0);
  EXPECT_TRUE(episode.terminated);
  EXPECT_FALSE(episode.truncated);
  for (const JobRecord& record : env.cluster().records()) EXPECT_LT(record.finish, kNever);
}

TEST(ClusterEnv, DecisionLimitTruncates) {
  ClusterEnvOptions options = Options(ActionMode::kIndex);
  options.max_decisions = 4;
  ClusterEnv env(FewJobs(6), options);
  const Episode episode = Play(env, 0);
  EXPECT_TRUE(episode.truncated);
  EXPECT_FALSE(episode.terminated);
  EXPECT_EQ(episode.rewards.size(), 4u);
}

TEST(ClusterEnv, EpisodeThatDrainsAtTheLimitIsTerminatedOnly) {
  ClusterEnv unlimited(FewJobs(6), Options(ActionMode::kIndex));
  ClusterEnvOptions options = Options(ActionMode::kIndex);
  options.max_decisions = static_cast<std::int64_t>(Play(unlimited, 0).rewards.size());
  ClusterEnv env(FewJobs(6), options);
  const Episode episode = Play(env, 0);
  EXPECT_TRUE(episode.terminated);
  EXPECT_FALSE(episode.truncated);
}

TEST(ClusterEnv, JctRewardsSumToMinusTheTotalJct) {
  for (const ActionMode mode : {ActionMode::kIndex, ActionMode::kSequence, ActionMode::kChoice}) {
    ClusterEnv env(Days(), Options(mode));
    const Episode episode = Play(env, 1);
    double total = 0;
    for (const JobRecord& record : env.cluster().records()) total += record.finish - record.submit;
    EXPECT_NEAR(episode.return_(), -total, 1e-9 * total);
  }
}

TEST(ClusterEnv, IndexStepIsOneDecisionAndSequenceStepsCompleteOneWithDone) {
  ClusterEnv index(FewJobs(4), Options(ActionMode::kIndex));
  index.Reset(0);
  const std::vector<float> scores(static_cast<std::size_t>(index.spec().action.elements()));
  EXPECT_TRUE(index.Step(scores).info.decided);

  ClusterEnv sequence(FewJobs(4), Options(ActionMode::kSequence));
  const StepInfo start = sequence.Reset(0);
  const StepResult unit = sequence.Step(std::vector<float>{0});
  EXPECT_FALSE(unit.info.decided);
  EXPECT_EQ(unit.reward, 0);
  EXPECT_EQ(unit.info.time_s, start.time_s);
  const auto done = static_cast<float>(sequence.spec().action.high);
  EXPECT_TRUE(sequence.Step(std::vector<float>{done}).info.decided);
}

TEST(ClusterEnv, ObservationStaysWithinTheSpec) {
  for (const ActionMode mode : {ActionMode::kIndex, ActionMode::kSequence, ActionMode::kChoice}) {
    ClusterEnv env(Days(), Options(mode));
    env.Reset(0);
    Rng rng(5, "bounds");
    std::vector<float> action;
    StepResult result;
    while (!result.terminated) {
      const ObservationBuffer o = LookAt(env);
      ASSERT_EQ(OutOfBounds(o, env.spec()), "") << "at " << result.info.time_s << " s";
      RandomAction(env.spec(), o.bytes("action_mask"), &rng, &action);
      result = env.Step(action);
    }
    EXPECT_EQ(OutOfBounds(LookAt(env), env.spec()), "") << "at the end";
  }
}

TEST(ClusterEnv, JobMaskCountsTheJobsInTheWindow) {
  ClusterEnv env(FewJobs(12), Options(ActionMode::kIndex, 4));
  env.Reset(0);
  const std::vector<float> scores(12);
  StepResult result;
  while (!result.terminated) {
    result = env.Step(scores);
    const ObservationBuffer o = LookAt(env);
    const std::span<const std::uint8_t> job_mask = o.bytes("job_mask");
    ASSERT_EQ(std::accumulate(job_mask.begin(), job_mask.end(), 0),
              std::min(4, result.info.active_jobs));
    if (result.info.active_jobs == 0) {
      ASSERT_EQ(o.bytes("action_mask").front(), 1) << "a mask is never empty";
    } else {
      ASSERT_TRUE(std::ranges::equal(o.bytes("action_mask"), job_mask));
    }
  }
}

TEST(ClusterEnv, JobsBeyondTheWindowAreCounted) {
  ClusterEnv env(FewJobs(12), Options(ActionMode::kChoice, 4));
  env.Reset(0);
  const std::vector<float> nothing(4);
  std::int32_t most = 0;
  for (int step = 0; step < 40; ++step) {
    const StepInfo info = env.Step(nothing).info;
    EXPECT_EQ(info.jobs_beyond_window, std::max(0, info.active_jobs - 4));
    most = std::max(most, info.jobs_beyond_window);
  }
  EXPECT_GT(most, 0);
}

TEST(ClusterEnv, IndexActionsAreScoresDividedByTheScale) {
  // Within the bounds and beyond them: the scale is a power of two, so that floats stay the same.
  ClusterEnv env(Days(), Options(ActionMode::kIndex));
  const TensorSpec& action = env.spec().action;
  EXPECT_EQ(action.low, -1);
  EXPECT_EQ(action.high, 1);
  env.Reset(0);
  IndexAction decoder;
  std::vector<float> scores(static_cast<std::size_t>(action.elements()));
  Rng rng(1, "scores");
  for (int step = 0; step < 30; ++step) {
    for (float& score : scores) score = static_cast<float>(rng.Uniform(-12.0, 12.0));
    const std::size_t numbers = env.observation().job.size() * kIndexOutputs;
    ASSERT_LE(numbers, scores.size());
    Allocation expected;
    decoder.Decode(env.observation(), std::span<const float>(scores).first(numbers), &expected);
    std::vector<float> scaled = scores;
    for (float& number : scaled) number /= kIndexActionScale;
    AgentSide side(Options(ActionMode::kIndex));
    side.Begin(env.observation());
    Allocation given;
    side.Act(env.observation(), scaled, &given);
    ASSERT_TRUE(std::ranges::equal(given.entries(), expected.entries(),
                                   [](const Allocation::Entry& a, const Allocation::Entry& b) {
                                     return a.job == b.job && a.configuration == b.configuration;
                                   }))
        << "step " << step;
    if (env.Step(scaled).terminated) break;
  }
}

TEST(ClusterEnv, EpisodesOfOwnLengthHoldEveryWorkConservingSchedule) {
  ClusterEnvOptions options = Options(ActionMode::kIndex);
  options.max_decisions = std::nullopt;
  ClusterEnv env(Days(), options);
  const Episode episode = Play(env, 0);
  EXPECT_TRUE(episode.terminated);
  EXPECT_LT(static_cast<std::int64_t>(episode.rewards.size()),
            MostDecisions(env.cluster().scenario()));
}

TEST(ClusterEnv, EpisodesOfOwnLengthEndAlthoughJobsStarve) {
  ClusterEnvOptions options = Options(ActionMode::kChoice);
  options.max_decisions = std::nullopt;
  ClusterEnv env(FewJobs(6), options);
  env.Reset(0);
  const std::int64_t limit = MostDecisions(env.cluster().scenario());
  const std::vector<float> nothing(16);
  StepResult result;
  std::int64_t steps = 0;
  while (!result.truncated) {
    result = env.Step(nothing);
    ++steps;
  }
  EXPECT_EQ(steps, limit);
  EXPECT_EQ(result.info.unfinished_jobs, 6);
}

TEST(ClusterEnv, RewardsOfJobsAreThoseOfJctPerGpuAndInterval) {
  ClusterEnvOptions options = Options(ActionMode::kIndex);
  options.reward = "jobs";
  options.reward_scale = 4;
  ClusterEnv env(Days(), options);
  const Episode episode = Play(env, 1);
  double total = 0;
  for (const JobRecord& record : env.cluster().records()) total += record.finish - record.submit;
  const Scenario& scenario = env.cluster().scenario();
  const double unit = scenario.options().interval * scenario.cluster().total().gpus;
  EXPECT_NEAR(episode.return_(), -4 * total / unit, 1e-9 * total / unit);
}

TEST(ClusterEnv, JobsBeyondTheWindowAreServedInTheEnd) {
  ClusterEnv env(FewJobs(12), Options(ActionMode::kIndex, 2));
  EXPECT_TRUE(Play(env, 0).terminated);
}

TEST(ClusterEnv, EveryLegalSequenceActionIsAccepted) {
  ClusterEnv env(FewJobs(5), Options(ActionMode::kSequence));
  env.Reset(0);
  env.Step(std::vector<float>{static_cast<float>(env.spec().action.high)});
  const ObservationBuffer start = LookAt(env);
  for (std::size_t chosen = 0; chosen < start.bytes("action_mask").size(); ++chosen) {
    if (start.bytes("action_mask")[chosen] == 0) continue;
    env.Reset(0);
    env.Step(std::vector<float>{static_cast<float>(env.spec().action.high)});
    const StepResult result = env.Step(std::vector<float>{static_cast<float>(chosen)});
    EXPECT_FALSE(result.info.illegal_action) << "action " << chosen;
  }
}

TEST(ClusterEnv, GrantedGrowsWithALegalSequenceAction) {
  ClusterEnv env(FewJobs(5), Options(ActionMode::kSequence));
  env.Reset(0);
  EXPECT_EQ(LookAt(env).floats("granted")[0], 0);
  env.Step(std::vector<float>{0});
  EXPECT_GT(LookAt(env).floats("granted")[0], 0);
}

TEST(ClusterEnv, IllegalSequenceActionsChangeNothing) {
  ClusterEnv env(FewJobs(5), Options(ActionMode::kSequence));
  env.Reset(0);
  const ObservationBuffer start = LookAt(env);
  std::vector<float> illegal = {-1,
                                -1e30F,
                                1e30F,
                                static_cast<float>(env.spec().action.high + 1),
                                std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity()};
  for (std::size_t chosen = 0; chosen < start.bytes("action_mask").size(); ++chosen) {
    if (start.bytes("action_mask")[chosen] == 0) illegal.push_back(static_cast<float>(chosen));
  }
  for (const float action : illegal) {
    const StepResult result = env.Step(std::vector<float>{action});
    ASSERT_TRUE(result.info.illegal_action) << "action " << action;
    ASSERT_EQ(result.reward, 0) << "action " << action;
    ASSERT_EQ(LookAt(env), start) << "action " << action;
  }
}

TEST(ClusterEnv, StrictModeThrowsOnIllegalActions) {
  ClusterEnvOptions options = Options(ActionMode::kSequence);
  options.strict = true;
  ClusterEnv env(FewJobs(5), options);
  env.Reset(0);
  ExpectError(ExitCode::kUsage, {"-1"}, [&] { env.Step(std::vector<float>{-1}); });
}

TEST(ClusterEnv, RandomLegalSequenceActionsDrainASmallWorkload) {
  ClusterEnvOptions options = Options(ActionMode::kSequence);
  options.strict = true;
  ClusterEnv env(FewJobs(8), options);
  EXPECT_TRUE(Play(env, 0).terminated);
}

TEST(ClusterEnv, IndexScoresThatAreNotFiniteAreAccepted) {
  const float odd[] = {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(), 1e30F};
  for (const float value : odd) {
    ClusterEnv env(FewJobs(6), Options(ActionMode::kIndex));
    env.Reset(0);
    const std::vector<float> scores(static_cast<std::size_t>(env.spec().action.elements()), value);
    StepResult result;
    while (!result.terminated) result = env.Step(scores);
    EXPECT_EQ(OutOfBounds(LookAt(env), env.spec()), "") << "score " << value;
  }
}

TEST(ClusterEnv, ChoicesThatAreNoneCountAsZero) {
  ClusterEnv env(FewJobs(5), Options(ActionMode::kChoice, 8));
  ClusterEnv twin(FewJobs(5), Options(ActionMode::kChoice, 8));
  const float none[] = {-1,
                        1.5F,
                        65,
                        1e30F,
                        std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity()};
  std::vector<float> choices(8);
  for (const float odd : none) {
    env.Reset(0);
    twin.Reset(0);
    choices[0] = odd;
    const StepResult result = env.Step(choices);
    choices[0] = 0;
    const StepResult zero = twin.Step(choices);
    EXPECT_TRUE(result.info.illegal_action) << "choice " << odd;
    EXPECT_FALSE(zero.info.illegal_action) << "choice 0";
    EXPECT_EQ(result.reward, zero.reward) << "choice " << odd;
    EXPECT_EQ(LookAt(env), LookAt(twin)) << "choice " << odd;
  }
}

TEST(ClusterEnv, StrictModeNamesTheSlotOfAnIllegalChoice) {
  ClusterEnvOptions options = Options(ActionMode::kChoice, 8);
  options.strict = true;
  ClusterEnv env(FewJobs(5), options);
  env.Reset(0);
  std::vector<float> choices(8);
  choices[7] = 1;  // no job is there yet
  ExpectError(ExitCode::kUsage, {"slot 7"}, [&] { env.Step(choices); });
}

TEST(ClusterEnv, ChoicesThatDoNotFitAreCounted) {
  ClusterEnv env(FewJobs(30), Options(ActionMode::kChoice, 30));
  env.Reset(0);
  std::int32_t unplaced = 0;
  StepResult result;
  while (!result.terminated) {
    const ObservationBuffer o = LookAt(env);
    const std::span<const std::uint8_t> mask = o.bytes("action_mask");
    std::vector<float> choices(30);
    for (std::size_t slot = 0; slot < 30; ++slot) choices[slot] = mask[slot * 65 + 1];
    result = env.Step(choices);
    unplaced += result.info.unplaced_jobs;
  }
  EXPECT_GT(unplaced, 0) << "jobs always queue here";
}

TEST(ClusterEnv, AWindowOfNoJobsIsAUsageError) {
  ClusterEnvOptions options = Options(ActionMode::kChoice);
  options.max_jobs = 0;
  EXPECT_THROW(ClusterEnvSpec(options), Error);
  options.max_jobs = 1;
  options.max_configurations = 0;
  EXPECT_THROW(ClusterEnvSpec(options), Error);
}

TEST(ClusterEnv, UnknownRewardIsAUsageErrorWithASuggestion) {
  ClusterEnvOptions options;
  options.reward = "jtc";
  ExpectError(ExitCode::kUsage, {"'jct'"}, [&] { const ClusterEnv env(FewJobs(1), options); });
}

TEST(ClusterEnvSpec, IsKnownBeforeAnyEnvironmentIs) {
  const EnvSpec sequence = ClusterEnvSpec(Options(ActionMode::kSequence, 10));
  EXPECT_EQ(sequence.action_kind, ActionKind::kDiscrete);
  EXPECT_EQ(sequence.action.elements(), 1);
  EXPECT_EQ(sequence.observation.back().elements(),
            static_cast<std::int64_t>(sequence.action.high) + 1);
  const EnvSpec index = ClusterEnvSpec(Options(ActionMode::kIndex, 10));
  EXPECT_EQ(index.action_kind, ActionKind::kBox);
  EXPECT_EQ(index.action.elements(), 30);
  const EnvSpec choice = ClusterEnvSpec(Options(ActionMode::kChoice, 10));
  EXPECT_EQ(choice.action_kind, ActionKind::kMultiDiscrete);
  EXPECT_EQ(choice.action.elements(), 10);
  EXPECT_EQ(choice.action.high, 64);
  EXPECT_EQ(choice.observation.back().elements(), 10 * 65);
  for (const TensorSpec& tensor : index.observation) {
    EXPECT_TRUE(std::isfinite(tensor.low) && std::isfinite(tensor.high)) << tensor.name;
  }
}

}  // namespace
}  // namespace allot
