// The network 'offsets' in every registered setting: untrained it decides as the fixed index of
// that world, and whatever its weights are, its answers can be applied.

#include <gtest/gtest.h>

#include "agents/learned/agent.h"
#include "envs/setting.h"
#include "sim/profile.h"
#include "sim/run.h"

namespace allot {
namespace {

struct World {
  const char* name;
  const char* setting;
};

// Every setting, and of those with several kinds of world one of each.
constexpr World kWorlds[] = {
    {"dl2", "dl2:size=V24"},
    {"pollux", "pollux:load=0.3"},
    {"pollux_shared", "pollux:load=0.3,beliefs=shared"},
    {"sia", "sia:load=0.2"},
    {"gavel", "gavel:jobs=60,gpus=6"},
    {"gavel_several", "gavel:jobs=60,gpus=8,multi=true,load=1.1,lengths=true"},
    {"gavel_pairs", "gavel:jobs=60,gpus=6,pairs=true"},
    {"llm", "llm:jobs=30"},
    {"failures", "failures:nodes=8,span=3d"},
    {"lending", "lending:gpus=64,span=2d"},
    {"eaters", "eaters:nodes=8,span=1d,law=eaters/broken=0"},
    {"tree", "tree:jobs=60"},
    {"trace", "trace:gpus=32,span=12h,lengths=noisy:0.5"},
};

std::string TunedIndexOf(const Setting& setting) {
  return setting.index.empty()
             ? PolicySpecUnder(Registry<ProfileInfo>::Global().Get("profile", setting.profile),
                               "index")
             : setting.index;
}

Agent Untrained(const Setting& setting) {
  Agent agent{MakeNetwork("offsets:hidden=4", 1), {}};
  const NetworkInfo& network = NetworkOf(agent.weights);
  network.begin_in(&agent.weights, setting.profile, TunedIndexOf(setting));
  network.begin_in(&agent.weights, "elsewhere", "index:alpha=7");
  return agent;
}

// Compares at every decision of the index's run.
class SameDecisions : public DecisionListener {
 public:
  explicit SameDecisions(std::unique_ptr<Policy> other) : other_(std::move(other)) {}
  void OnDecision(const Observation& o, const Allocation& allocation) override {
    Allocation answer;
    other_->Decide(o, &answer);
    differences_ += answer == allocation ? 0 : 1;
    ++decisions_;
  }
  int differences() const { return differences_; }
  int decisions() const { return decisions_; }

 private:
  std::unique_ptr<Policy> other_;
  int differences_ = 0;
  int decisions_ = 0;
};

class OffsetsIn : public testing::TestWithParam<World> {};

TEST_P(OffsetsIn, UntrainedDecidesAsTheIndex) {
  const Setting setting = MakeSetting(GetParam().setting);
  const auto scenario = setting.episodes(3);
  const auto index = MakePolicy(TunedIndexOf(setting));
  SameDecisions same(MakeLearnedPolicy(Untrained(setting), {.world = setting.profile}));
  DecisionListener* const listeners[] = {&same};
  RunPolicy(*scenario, *index, listeners);
  EXPECT_EQ(same.differences(), 0) << "of " << same.decisions() << " decisions, " << setting.name;
  EXPECT_GT(same.decisions(), 20) << setting.name;
}

TEST_P(OffsetsIn, AnyWeightsPlayItToTheEnd) {
  const Setting setting = MakeSetting(GetParam().setting);
  Agent agent = Untrained(setting);
  Rng rng(5, "offsets-test");
  for (auto& [name, tensor] : agent.weights.tensors) {
    for (float& value : tensor.data) value = static_cast<float>(rng.Normal());
  }
  const auto learned = MakeLearnedPolicy(agent, {.world = setting.profile});
  for (const JobRecord& record : RunPolicy(*setting.episodes(3), *learned).records) {
    EXPECT_NE(record.finish, kNever) << "job " << record.job << " of " << setting.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, OffsetsIn, testing::ValuesIn(kWorlds),
                         [](const auto& world) { return world.param.name; });

TEST(OffsetsWorlds, HaveEverySettingAmongThem) {
  for (const std::string& id : Registry<SettingInfo>::Global().ids()) {
    bool found = false;
    for (const World& world : kWorlds) {
      found = found || ParseNamedParams(world.setting).name == id;
    }
    EXPECT_TRUE(found) << "setting " << id;
  }
}

}  // namespace
}  // namespace allot
