// Clusters whose network is a tree of leaves and pods, in which a job's place decides how fast it
// communicates (docs/topology.md has what supports the numbers).
//
// `philly`: 64 nodes of 8 GPUs below 8 leaves, jobs with Philly's sizes and durations (at most a
// day). `llm`: 256 nodes below 16 leaves in 4 pods, gangs of up to 512 GPUs that lose rails on
// parts of nodes. Every job runs at the size that it asks for; durations are of the best place.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include "cluster/topology_text.h"
#include "core/error.h"
#include "core/rng.h"
#include "envs/setting.h"
#include "sim/profile.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

constexpr GpuCount kTreeNodeGpus = 8;
constexpr Seconds kDay = 86400;

struct TreeKind {
  const char* id;
  std::int32_t nodes;
  const char* topology;
  double all_to_all;  // part of the jobs
  int jobs;
};
constexpr TreeKind kPhilly{"philly", 64, "leaf=8:factor=5:uplink=2.8,all:factor=6", 0.3, 5000};
constexpr TreeKind kLlm{
    "llm", 256,
    "leaf=16:factor=8:uplink=8,pod=64:factor=9.6:uplink=6.4,all:factor=12.8,node:rails=4", 0.35,
    1500};

// Sizes and durations of the embedded trace.
std::vector<std::pair<GpuCount, Seconds>> PhillySizes() {
  std::vector<std::pair<GpuCount, Seconds>> sizes;
  for (const Job& job : ReadTrace(std::string(kEmbeddedWorkload)).jobs) {
    sizes.emplace_back(job.gpus, std::min(job.duration, kDay));
  }
  return sizes;
}

struct TreeWorld {
  TreeKind kind = kPhilly;
  ClusterSpec cluster;
  SimOptions options;
  int jobs = 0;
  double load = 1;
  std::vector<std::pair<GpuCount, Seconds>> sizes;  // of 'philly'

  // Communication in one node takes 2 to 25 % of an iteration, beyond it five times as long.
  Job DrawPhilly(Rng* rng) const {
    constexpr std::array<double, 4> kShares = {0.02, 0.08, 0.15, 0.25};
    constexpr double kBeyond = 5;
    Job job;
    std::tie(job.gpus, job.duration) = sizes[rng->Below(sizes.size())];
    double share = kShares[rng->Below(kShares.size())];
    if (job.gpus > kTreeNodeGpus) share = share * kBeyond / (1 - share + share * kBeyond);
    job.communication.share = static_cast<float>(share);
    return job;
  }

  // Longer for larger gangs, at least two minutes and at most a day.
  Job DrawLlm(Rng* rng) const {
    constexpr std::array<GpuCount, 9> kSizes = {1, 4, 8, 16, 32, 64, 128, 256, 512};
    constexpr std::array<double, 9> kParts = {0.12, 0.08, 0.28,  0.18, 0.13,
                                              0.10, 0.06, 0.035, 0.015};
    constexpr Seconds kMedian = 5400, kLeast = 120;
    constexpr double kSmall = -0.7, kAStep = 0.08, kSpread = 1.2;
    Job job;
    double at = rng->Uniform();
    std::size_t size = 0;
    for (; size + 1 < kSizes.size() && at >= kParts[size]; ++size) at -= kParts[size];
    job.gpus = kSizes[size];
    const double shift = job.gpus < kTreeNodeGpus ? kSmall : kAStep * static_cast<double>(size);
    job.duration = std::clamp(kMedian * std::exp(shift + kSpread * rng->Normal()), kLeast, kDay);
    double share = 0.1 + 0.35 * rng->Uniform();
    if (job.gpus <= kTreeNodeGpus) share /= 2;
    job.communication.share = static_cast<float>(share);
    return job;
  }

  std::shared_ptr<const Scenario> Draw(std::uint64_t seed) const {
    Workload workload;
    workload.name = fmt::format("tree-{}-seed{}", kind.id, seed);
    Rng rng(seed, "tree-setting-jobs");
    double gpu_seconds = 0;
    for (int i = 0; i < jobs; ++i) {
      Job job = sizes.empty() ? DrawLlm(&rng) : DrawPhilly(&rng);
      if (rng.Uniform() < kind.all_to_all) {
        job.communication.pattern = CommunicationPattern::kAllToAll;
      }
      if (job.gpus == 1) job.communication = {};
      job.id = std::to_string(i);
      gpu_seconds += job.duration * job.gpus;
      workload.jobs.push_back(std::move(job));
    }
    // Days and nights, scaled to the load.
    Rng arrivals(seed, "tree-setting-arrivals");
    const Seconds span = gpu_seconds / (cluster.total().gpus * load);
    Seconds now = 0;
    for (Job& job : workload.jobs) {
      const double rate = 1 + 0.5 * std::sin(2 * std::numbers::pi * now / kDay);
      now += arrivals.Exponential(span / jobs / rate);
      job.submit = now;
    }
    for (Job& job : workload.jobs) job.submit *= span / now;
    workload.Finish();
    SimOptions drawn = options;
    drawn.seed = seed;
    return std::make_shared<const Scenario>(std::move(workload), cluster, drawn);
  }
};

TreeKind KindNamed(const std::string& id) {
  for (const TreeKind& kind : {kPhilly, kLlm}) {
    if (kind.id == id) return kind;
  }
  throw UsageError("setting 'tree': 'world' must be philly or llm, got '{}'", id);
}

Setting MakeTree(const Params& params) {
  const auto world = std::make_shared<TreeWorld>();
  world->kind = KindNamed(params.Text("world"));
  const int jobs = params.Integer("jobs");
  world->jobs = jobs > 0 ? jobs : world->kind.jobs;
  world->load = params.Number("load");
  if (params.Text("world") == kPhilly.id) world->sizes = PhillySizes();
  world->cluster.AddNodes(world->kind.nodes, {.gpus = kTreeNodeGpus, .cpus = 8 * kTreeNodeGpus},
                          "gpu");
  if (params.Flag("topology")) {
    ReadReport report;
    world->cluster.SetTopology(ParseTopology(world->kind.topology, world->cluster, &report));
  }
  Registry<ProfileInfo>::Global().Get("profile", "default").apply(&world->options);
  world->options.interval = params.Number("interval");
  world->options.restart_cost = params.Number("restart-cost");
  world->options.lengths = LengthEstimates::Parse(params.Text("lengths"));
  return {fmt::format("tree {}, load {}, restarts of {} s", world->kind.id, params.Text("load"),
                      params.Text("restart-cost")),
          "default", [world](std::uint64_t seed) { return world->Draw(seed); }};
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "tree",
        "a network of leaves and pods: 512 GPUs with Philly's jobs, or 2,048 with gangs",
        {{"world", "philly", "philly or llm"},
         {"load", "1", "GPU time requested / GPU time until the last arrival", 1e-3, 10},
         {"jobs", "0", "jobs that arrive; 0: 5000 of philly, 1500 of llm", 0, 1e6},
         {"topology", "true", "false: the same jobs where places cost nothing"},
         {"interval", "60", "seconds between decisions", 1e-3, 1e9},
         {"restart-cost", "60", "seconds of progress lost by a change of allocation", 0, 1e9},
         {"lengths", "noisy:0.5", "job lengths that policies get: none, noisy:SIGMA, true"}},
        MakeTree}));

}  // namespace
}  // namespace allot
