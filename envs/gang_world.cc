#include "envs/gang_world.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "perf/power_laws.h"
#include "sim/profile.h"

namespace allot {

GangWorld::GangWorld(int nodes, GpuCount per_node, const Params& params)
    : elastic_(params.Flag("elastic")) {
  cluster_.AddNodes(nodes, {.gpus = per_node, .cpus = 8 * per_node}, "gpu");
  Registry<ProfileInfo>::Global().Get("profile", "default").apply(&options);
  options.interval = params.Number("interval");
  options.restart_cost = params.Number("restart-cost");
  options.lengths = LengthEstimates::Parse(params.Text("lengths"));
  options.node_loss = ParseNodeLoss(params.Text("mode"));
}

std::vector<GangClass> GangWorld::UpTo(double part, std::span<const GangClass> classes) const {
  std::vector<GangClass> found;
  std::ranges::copy_if(classes, std::back_inserter(found),
                       [&](const GangClass& gang) { return gang.gpus <= part * gpus(); });
  return found;
}

std::shared_ptr<const Scenario> GangWorld::Play(Workload gangs, std::uint64_t seed) const {
  if (elastic_) MakeGangsElastic(gpus() / 2, seed, &gangs);
  gangs.Finish();
  SimOptions drawn = options;
  drawn.seed = seed;
  return std::make_shared<const Scenario>(std::move(gangs), cluster_, std::move(drawn),
                                          PowerLawCatalogue());
}

}  // namespace allot
