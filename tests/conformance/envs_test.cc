// Every reward in all action modes: 200 random steps keep the contract of envs/env.h.

#include <gtest/gtest.h>

#include "core/error.h"
#include "envs/cluster_env.h"
#include "tests/unit/envs/small_world.h"

namespace allot {
namespace {

class EnvConformance : public testing::TestWithParam<std::tuple<std::string, ActionMode>> {};

TEST_P(EnvConformance, RandomStepsKeepTheContract) {
  ClusterEnvOptions options;
  options.reward = std::get<0>(GetParam());
  options.mode = std::get<1>(GetParam());
  options.max_jobs = 8;
  options.max_decisions = 40;
  ClusterEnv env(Days(), options);
  ClusterEnv twin(Days(), options);
  Rng rng(1, "conformance");
  std::vector<float> action;
  ASSERT_EQ(env.Reset(1), twin.Reset(1));
  double last_time = 0;
  for (int step = 0; step < 200; ++step) {
    const ObservationBuffer o = LookAt(env);
    ASSERT_EQ(OutOfBounds(o, env.spec()), "") << "step " << step;
    ASSERT_EQ(o, LookAt(twin)) << "equal seeds, different observations at step " << step;
    // Every tenth action is drawn without looking at the mask, as Gymnasium's checker does.
    bool legal = true;
    const bool discrete = env.spec().action_kind == ActionKind::kDiscrete;
    if (discrete && step % 10 == 9) {
      const std::uint64_t chosen = rng.Below(o.bytes("action_mask").size());
      action.assign(1, static_cast<float>(chosen));
      legal = o.bytes("action_mask")[chosen] == 1;
    } else {
      RandomAction(env.spec(), o.bytes("action_mask"), &rng, &action);
    }
    const StepResult result = env.Step(action);
    const StepResult other = twin.Step(action);
    ASSERT_EQ(result.reward, other.reward) << "equal seeds, different rewards at step " << step;
    ASSERT_EQ(result.info, other.info) << "equal seeds, different infos at step " << step;
    ASSERT_TRUE(std::isfinite(result.reward)) << "step " << step;
    ASSERT_EQ(result.info.illegal_action, !legal) << "step " << step;
    ASSERT_FALSE(result.terminated && result.truncated) << "step " << step;
    ASSERT_GE(result.info.time_s, last_time) << "time runs backwards at step " << step;
    last_time = result.info.time_s;
    if (!legal) {
      ASSERT_EQ(LookAt(env), o) << "an illegal action changed something";
    }
    if (!result.info.decided) {
      ASSERT_EQ(result.reward, 0) << "a reward without a decision";
    }
    if (result.terminated) {
      ASSERT_EQ(result.info.active_jobs, 0);
    }
    if (result.terminated || result.truncated) {
      ASSERT_EQ(OutOfBounds(LookAt(env), env.spec()), "") << "final observation";
      ASSERT_THROW(env.Step(action), Error) << "stepped past the end";
      env.Reset(std::nullopt);
      twin.Reset(std::nullopt);
      last_time = 0;
    }
  }
}

std::string NameOf(const testing::TestParamInfo<EnvConformance::ParamType>& test) {
  const char* const modes[] = {"_index", "_sequence", "_choice"};
  return std::get<0>(test.param) + modes[static_cast<std::size_t>(std::get<1>(test.param))];
}

INSTANTIATE_TEST_SUITE_P(AllRewards, EnvConformance,
                         testing::Combine(testing::ValuesIn(Registry<RewardInfo>::Global().ids()),
                                          testing::Values(ActionMode::kIndex, ActionMode::kSequence,
                                                          ActionMode::kChoice)),
                         NameOf);

}  // namespace
}  // namespace allot
