// What must hold for every registered stage, each in a policy whose other stages are plain: it
// decides legally, starves nobody, and does not look at the order of rows.

#include "sched/stages.h"

#include <algorithm>
#include <string>
#include <vector>

#include "stages/rounds/sharing.h"
#include "tests/conformance/random_world.h"

namespace allot {
namespace {

using testing_support::kShapes;
using testing_support::OrderCheck;
using testing_support::RandomScenario;
using testing_support::ValidityCheck;
using testing_support::WorldShape;

struct Staged {
  std::string spec;
  bool any_size = true;  // false: a job may be larger than what the stage can place
};

template <typename Info>
void AddEach(const std::string& kind, const std::string& base, std::vector<Staged>* policies) {
  for (const std::string& id : Registry<Info>::Global().ids()) {
    policies->push_back({fmt::format("{}:{}={}", base, kind, id)});
  }
}

// Each with its defaults, and so tight or loose that it has something to do in a small world.
std::vector<Staged> AllStages() {
  std::vector<Staged> policies;
  AddEach<AdmissionInfo>("admission", "las", &policies);
  AddEach<OrderingInfo>("ordering", "fifo", &policies);
  AddEach<TypeAssignmentInfo>("types", "las", &policies);
  AddEach<SizingInfo>("sizing", "las", &policies);
  AddEach<PlacementInfo>("placement", "las", &policies);
  AddEach<SharingInfo>("sharing", "shared", &policies);
  for (const char* spec :
       {"las:admission=active-limit/jobs=3", "las:admission=load/factor=0.5",
        "las:admission=queue-limit/jobs=1", "las:admission=tenant-quota/gpus=4",
        "las:placement=local/domain=2", "index:placement=local", "index:placement=spread",
        "tiresias:queues=1000|10000,promote=1", "fifo:sizing=progressive",
        "assignment:types=paired", "index:types=paired", "las:sizing=hull,types=paired",
        "easy:ordering=priority", "easy:ordering=deadline/preemptive=false"}) {
    policies.push_back({spec});
  }
  for (Staged& policy : policies) {
    policy.any_size = policy.spec.find("consolidated") == std::string::npos;
  }
  return policies;
}

class StageConformanceTest : public testing::TestWithParam<Staged> {
 protected:
  Scenario World(const WorldShape& shape, std::uint64_t seed) const {
    return RandomScenario(shape, seed, GetParam().any_size ? 6 : 4);
  }
  bool Suits(const WorldShape& shape) const { return GetParam().any_size || !shape.elastic; }
};

TEST_P(StageConformanceTest, DecidesLegallyAndEveryJobFinishes) {
  for (const WorldShape& shape : kShapes) {
    if (!Suits(shape)) continue;
    for (std::uint64_t seed = 20; seed < 23; ++seed) {
      ValidityCheck check;
      DecisionListener* const listeners[] = {&check};
      const auto policy = MakePolicy(GetParam().spec);
      for (const JobRecord& record : RunPolicy(World(shape, seed), *policy, listeners).records) {
        EXPECT_LT(record.finish, kNever)
            << shape.name << ", seed " << seed << ", job " << record.job;
      }
    }
  }
}

TEST_P(StageConformanceTest, SaysThatItReadsLengths) {
  for (const WorldShape& shape : kShapes) {
    if (!Suits(shape)) continue;
    testing_support::ExpectLengthsToBeSaid(GetParam().spec, shape, 25, GetParam().any_size ? 6 : 4);
  }
}

TEST_P(StageConformanceTest, TheOrderOfRowsDoesNotMatter) {
  for (const WorldShape& shape : kShapes) {
    if (!Suits(shape)) continue;
    SCOPED_TRACE(shape.name);
    const Scenario scenario = World(shape, 24);
    auto twin = MakePolicy(GetParam().spec);
    twin->OnEpisodeStart({.seed = 24, .cluster = &scenario.cluster()});
    OrderCheck check(std::move(twin));
    DecisionListener* const listeners[] = {&check};
    RunPolicy(scenario, *MakePolicy(GetParam().spec), listeners);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, StageConformanceTest, testing::ValuesIn(AllStages()),
                         [](const auto& test) {
                           std::string name = test.param.spec;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace allot
