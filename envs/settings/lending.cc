// A cluster that training jobs share with services, which lend the nodes that they do not need and
// call them back with notice. Load is over the GPUs that services leave on average.

#include <array>
#include <vector>

#include "core/error.h"
#include "core/nested_spec.h"
#include "envs/gang_jobs.h"
#include "envs/setting.h"
#include "perf/power_laws.h"
#include "sim/profile.h"
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
  ClusterSpec cluster;
  const int gpus = params.Integer("gpus");
  const int per_node = params.Integer("per-node");
  if (gpus % per_node != 0) {
    throw UsageError("setting 'lending': 'gpus' must be a multiple of 'per-node' ({}), got {}",
                     per_node, gpus);
  }
  cluster.AddNodes(gpus / per_node, {.gpus = per_node, .cpus = 8 * per_node}, "gpu");
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "default").apply(&options);
  options.interval = params.Number("interval");
  options.restart_cost = params.Number("restart-cost");
  options.lengths = LengthEstimates::Parse(params.Text("lengths"));
  options.services = NestedSpec(params.Text("services"));
  options.lend = NestedSpec(params.Text("lend"));
  options.recall_notice = params.Duration("notice");
  options.node_loss = ParseNodeLoss(params.Text("mode"));
  const Seconds span = params.Duration("span");
  const double load = params.Number("load");
  const bool elastic = params.Flag("elastic");
  std::vector<GangClass> classes = {kJobs.front()};
  for (const GangClass& gang : kJobs) {  // services never leave the whole cluster
    if (gang.gpus > 1 && 4 * gang.gpus <= gpus) classes.push_back(gang);
  }
  return {fmt::format("lending {}, notice {:g} s", options.lend, options.recall_notice), "default",
          [=](std::uint64_t seed) {
            const double left = GpusLeft(options.services, {gpus, span, span, seed});
            Workload workload = DrawGangs({classes, load * left, span, kLongestJob}, seed);
            workload.name = fmt::format("lending-seed{}", seed);
            if (elastic) MakeGangsElastic(gpus / 2, seed, &workload);
            workload.Finish();
            SimOptions drawn = options;
            drawn.seed = seed;
            return std::make_shared<const Scenario>(std::move(workload), cluster, std::move(drawn),
                                                    PowerLawCatalogue());
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
