// A training cluster whose nodes fail. Most jobs are small and most GPU time goes to gangs of 64
// GPUs and more, as on Acme's and Meta's clusters (Hu et al., NSDI'24; Kokolis et al., HPCA'25), so
// that what a failure costs is what it costs a gang.

#include <array>

#include "core/nested_spec.h"
#include "envs/gang_world.h"
#include "envs/setting.h"

namespace allot {
namespace {

constexpr GpuCount kGpusOfNode = 8;
constexpr Seconds kLongestGang = 7 * 86400.0;
constexpr std::array<GangClass, 9> kGangs = {{{1, .04, 1, 1.3},
                                              {4, .04, 1.5, 1.3},
                                              {8, .12, 3, 1.2},
                                              {16, .10, 5, 1.1},
                                              {32, .12, 6, 1.1},
                                              {64, .15, 9, 1.0},
                                              {128, .16, 12, 1.0},
                                              {256, .14, 16, .9},
                                              {512, .13, 20, .8}}};

Setting MakeFailing(const Params& params) {
  GangWorld world(params.Integer("nodes"), kGpusOfNode, params);
  world.options.failures = NestedSpec(params.Text("law"));
  world.options.checkpoints = NestedSpec(params.Text("checkpoints"));
  const Seconds span = params.Duration("span");
  const double gpus = params.Number("load") * world.gpus();
  return {fmt::format("failures {}, {}", world.options.failures, params.Text("mode")), "default",
          [=, classes = world.UpTo(0.5, kGangs)](std::uint64_t seed) {
            Workload workload = DrawGangs({classes, gpus, span, kLongestGang}, seed);
            workload.name = fmt::format("gangs-seed{}", seed);
            return world.Play(std::move(workload), seed);
          }};
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "failures",
        "gangs on a cluster whose nodes fail",
        {{"law", "renewal/rate=5", "by which nodes fail, as --failures"},
         {"mode", "requeue", "what becomes of their jobs: requeue, shrink or hot"},
         {"checkpoints", "young-daly", "that jobs write, as --checkpoints"},
         {"nodes", "32", "nodes of eight GPUs; gangs have at most half of them", 1, 1e5},
         {"load", "0.9", "offered load", 1e-3, 1e3},
         {"span", "14d", "time in which jobs are submitted", 3600, 1e9},
         {"elastic", "true", "jobs may have 1 GPU to 4 times their request"},
         {"interval", "300", "seconds between decisions", 1e-3, 1e9},
         {"restart-cost", "60", "seconds of progress lost by a change of allocation", 0, 1e9},
         {"lengths", "noisy:0.5", "job lengths that policies get: none, noisy:SIGMA, true"}},
        MakeFailing}));

}  // namespace
}  // namespace allot
