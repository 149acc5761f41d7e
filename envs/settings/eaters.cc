// A training cluster on which nodes turn bad without going down and fail the jobs that start there,
// and users whose scripts are broken for a while: the world that the rule of suspicion was measured
// in (docs/adr/0098-blame-by-node.md).

#include <array>

#include "core/nested_spec.h"
#include "core/rng.h"
#include "envs/gang_world.h"
#include "envs/setting.h"

namespace allot {
namespace {

constexpr GpuCount kNodeGpus = 8;
constexpr Seconds kLongestUserJob = 7 * 86400.0;
// 60, 10, 12, 13 and 5 % of the jobs.
constexpr std::array<GangClass, 5> kUserJobs = {{{1, .192, .8, 1.2},
                                                 {2, .064, .8, 1.2},
                                                 {4, .154, .8, 1.2},
                                                 {8, .333, .8, 1.2},
                                                 {16, .257, .8, 1.2}}};

Setting MakeEaters(const Params& params) {
  GangWorld world(params.Integer("nodes"), kNodeGpus, params);
  world.options.failures = NestedSpec(params.Text("law"));
  world.options.decide_on_events = true;  // a failed start frees its GPUs at once
  world.options.rules = std::make_shared<const OperatorRules>(OperatorRules::Parse(
      fmt::format("fair_share = false\n[failures]\nthen = \"{}\"\nsuspect = {}",
                  params.Text("then"), params.Number("suspect")),
      "setting 'eaters'"));
  const Seconds span = params.Duration("span");
  const double gpus = params.Number("load") * world.gpus();
  const auto users = static_cast<std::uint64_t>(params.Integer("users"));
  return {fmt::format("{}, suspects: {}", world.options.failures, params.Text("then")), "default",
          [=, classes = world.UpTo(0.5, kUserJobs)](std::uint64_t seed) {
            Workload workload = DrawGangs({classes, gpus, span, kLongestUserJob}, seed);
            workload.name = fmt::format("eaters-seed{}", seed);
            Rng rng(seed, "eaters-users");
            for (Job& job : workload.jobs) {
              job.user = workload.users.Intern(fmt::format("user{}", rng.Below(users)));
            }
            return world.Play(std::move(workload), seed);
          }};
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "eaters",
        "jobs on a cluster where nodes fail the jobs that start there",
        {{"law", "eaters", "by which they do, as --failures"},
         {"then", "avoid", "what becomes of suspect nodes: tell, avoid or drain"},
         {"suspect", "0.99", "chance that a node is bad from which it is suspect", 0.5, 0.999999},
         {"mode", "requeue", "what becomes of jobs on nodes that go down: requeue, shrink or hot"},
         {"nodes", "64", "nodes of eight GPUs; jobs have at most half of them", 1, 1e5},
         {"users", "40", "whose jobs they are", 1, 1e6},
         {"load", "0.9", "offered load", 1e-3, 1e3},
         {"span", "2d", "time in which jobs are submitted", 3600, 1e9},
         {"elastic", "false", "jobs may have 1 GPU to 4 times their request"},
         {"interval", "300", "seconds between decisions", 1e-3, 1e9},
         {"restart-cost", "0", "seconds of progress lost by a change of allocation", 0, 1e9},
         {"lengths", "noisy:0.5", "job lengths that policies get: none, noisy:SIGMA, true"}},
        MakeEaters}));

}  // namespace
}  // namespace allot
