// A cluster that training jobs share with services, which lend the nodes that they do not need and
// call them back with notice. Load is over the GPUs that services leave on average.

#include <array>

#include "core/error.h"
#include "core/nested_spec.h"
#include "envs/gang_world.h"
#include "envs/setting.h"
#include "sim/service_load.h"

namespace allot {
namespace {

constexpr Seconds kLongestJob = 2 * 86400.0;
// 40, 10, 15, 20, 8, 5 and 2 % of the jobs.
constexpr std::array<GangClass, 7> kJobs = {{{1, .0575, 1.5, 1.3},
                                             {2, .0287, 1.5, 1.3},
                                             {4, .0862, 1.5, 1.3},
                                             {8, .2299, 1.5, 1.3},
                                             {16, .1839, 1.5, 1.3},
                                             {32, .2299, 1.5, 1.3},
                                             {64, .1839, 1.5, 1.3}}};

// That services leave on average while jobs are submitted.
double GpusLeft(const std::string& services, const ServiceSpan& span) {
  const ServiceLoad load = MakeServiceLoad(services, span);
  double left = 0;
  double steps = 0;
  for (Seconds time = 0; time < span.last_submit; time += ServiceLoad::kStep) {
    left += span.gpus - load.At(time);
    ++steps;
  }
  return left / steps;
}

Setting MakeLending(const Params& params) {
  const int gpus = params.Integer("gpus");
  const int per_node = params.Integer("per-node");
  if (gpus % per_node != 0) {
    throw UsageError("setting 'lending': 'gpus' must be a multiple of 'per-node' ({}), got {}",
                     per_node, gpus);
  }
  GangWorld world(gpus / per_node, per_node, params);
  world.options.services = NestedSpec(params.Text("services"));
  world.options.lend = NestedSpec(params.Text("lend"));
  world.options.recall_notice = params.Duration("notice");
  const Seconds span = params.Duration("span");
  const double load = params.Number("load");
  return {fmt::format("lending {}, notice {:g} s", world.options.lend, world.options.recall_notice),
          "default",
          // Services never leave the whole cluster.
          [=, classes = world.UpTo(0.25, kJobs)](std::uint64_t seed) {
            const double left = GpusLeft(world.options.services, {gpus, span, span, seed});
            Workload workload = DrawGangs({classes, load * left, span, kLongestJob}, seed);
            workload.name = fmt::format("lending-seed{}", seed);
            return world.Play(std::move(workload), seed);
          }};
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "lending",
        "jobs on nodes that services lend and call back",
        {{"services", "weekly", "their load, as --services"},
         {"lend", "level/quantile=0.99", "what they lend, as --lend"},
         {"notice", "10min", "time between a recall and its effect", 0, 1e9},
         {"mode", "requeue", "what becomes of jobs on these nodes: requeue, shrink or hot"},
         {"gpus", "512", "GPUs of the cluster; jobs have at most a quarter of them", 64, 1e6},
         {"per-node", "8", "GPUs of a node, which is lent and called back whole", 1, 64},
         {"load", "0.9", "offered load, over the GPUs that services leave on average", 1e-3, 1e3},
         {"span", "14d", "time in which jobs are submitted", 3600, 1e9},
         {"elastic", "false", "jobs may have 1 GPU to 4 times their request"},
         {"interval", "300", "seconds between decisions", 1e-3, 1e9},
         {"restart-cost", "600", "seconds of progress lost by a change of allocation", 0, 1e9},
         {"lengths", "noisy:0.5", "job lengths that policies get: none, noisy:SIGMA, true"}},
        MakeLending}));

}  // namespace
}  // namespace allot
