// Samples of a trace: weeks (or other spans) of it, thinned at random until they offer a cluster
// the wanted load. Samples of different seeds from one span overlap in jobs; spans do not.

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "envs/rented_nodes.h"
#include "envs/setting.h"
#include "perf/elastic.h"
#include "perf/power_laws.h"
#include "sim/belief.h"
#include "sim/profile.h"
#include "workload/calendar.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

constexpr GpuCount kGpusPerNode = 8;

// Tuned on the train and validation splits of Philly's tasks in the contest, elastic and rigid,
// with and without estimates (bench/results/learning.md). Where training of networks that add to an
// index begins.
constexpr const char* kBestInTraces =
    "index:alpha=0,beta=0.2,kappa=0.25,gamma=1.25,rank=0.75,unknown-alpha=0.12,rigid-alpha=0.5";

ClusterSpec ClusterOf(const Params& params) {
  std::string nodes = params.Text("cluster");
  if (!nodes.empty()) {
    std::replace(nodes.begin(), nodes.end(), '|', ',');
    return ClusterSpec::Parse(nodes);
  }
  const int gpus = params.Integer("gpus");
  if (gpus % kGpusPerNode != 0) {
    throw UsageError("setting 'trace': 'gpus' must be a multiple of {}, got {}", kGpusPerNode,
                     gpus);
  }
  ClusterSpec cluster;
  cluster.AddNodes(gpus / kGpusPerNode, {.gpus = kGpusPerNode, .cpus = 8 * kGpusPerNode}, "gpu");
  return cluster;
}

Setting Make(const Params& params) {
  const std::string& path = params.Text("workload");
  Workload read = ReadTrace(path);
  const bool rigid =
      params.Text("rigid").empty() ? path != kEmbeddedWorkload : params.Flag("rigid");
  if (rigid && !params.Text("rigid").empty()) {
    for (Job& job : read.jobs) KeepRequestedSize(&job);
  }
  const auto trace = std::make_shared<const Workload>(std::move(read));
  const ClusterSpec cluster = ClusterOf(params);

  WindowOptions window;
  const auto when = [&](const std::string& text) { return ParseWhen(*trace, text); };
  if (!params.Text("from").empty()) window.from = when(params.Text("from"));
  if (!params.Text("to").empty()) window.to = when(params.Text("to"));
  window.span = when(params.Text("span"));
  window.weekly = !params.Flag("random-start");
  window.loads = params.Numbers("loads");
  window.elastic = !rigid;
  const std::string& speedups = params.Text("speedups");
  if (speedups == "power") {
    window.catalogue = &PowerLawCatalogue();
    window.elasticity.least_efficiency = 0;
  } else if (speedups != "catalogue") {
    throw UsageError("setting 'trace': 'speedups' must be catalogue or power, got '{}'", speedups);
  }
  Registry<ProfileInfo>::Global().Get("profile", "default").apply(&window.sim);
  window.sim.interval = params.Number("interval");
  window.sim.restart_cost = params.Number("restart-cost");
  window.sim.lengths = LengthEstimates::Parse(params.Text("lengths"));
  window.sim.beliefs = params.Text("beliefs");
  CheckBelief(window.sim.beliefs);
  if (!params.Text("failures").empty()) {
    window.sim.failures = params.Text("failures");
    window.sim.checkpoints = "young-daly";
  }
  ReadRentedNodes(params, &window.sim);
  const EpisodeSource source = WindowEpisodes(*trace, cluster, window);
  // What a very long job takes after that says little about the service to others.
  const auto cut = static_cast<std::int64_t>(std::ceil(2 * window.span / window.sim.interval));
  const std::string& beliefs = params.Text("beliefs");
  Setting setting{fmt::format("{} {}, lengths {}{}", trace->name, rigid ? "rigid" : "elastic",
                              params.Text("lengths"),
                              beliefs == "exact" ? "" : fmt::format(", beliefs {}", beliefs)),
                  "default", [trace, source](std::uint64_t seed) { return source(seed); }, cut};
  setting.index = kBestInTraces;
  return setting;
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "trace", "samples of a trace on a cluster of 8-GPU nodes",
        WithRentedNodes(
            {FileParam({"workload", "embedded", "trace file, embedded (Philly) or embedded-openb"},
                       FilesOfTrace),
             {"from", "", "first submission used: date, 14d, or seconds"},
             {"to", "", "submissions before this are used"},
             {"span", "7d", "length of a sample"},
             {"random-start", "false",
              "samples begin at a random time, not one span after the other"},
             {"gpus", "256", "GPUs of the cluster, eight a node", 8, 1e6},
             FileParam({"cluster", "", "in place of `gpus`: nodes, e.g. 6x4:v100|3x8:p100"},
                       TheFile),
             {"loads", "1", "offered loads, joined by '|'"},
             {"rigid", "",
              "true: keep jobs at their requested size; false: draw a throughput model for each "
              "that "
              "names none (default: false for 'embedded', else true)"},
             {"speedups", "catalogue", "of elastic jobs: catalogue (measured) or power (n^p)"},
             {"interval", "300", "seconds between decisions, also of a trace of your own", 1e-3,
              1e9},
             {"restart-cost", "30", "seconds of progress lost by a change of allocation", 0, 1e9},
             {"lengths", "none", "job lengths that policies get: none, noisy:SIGMA, true"},
             {"beliefs", "exact", "rates that policies see, see 'allot list beliefs'"},
             {"failures", "", "of nodes, as --failures: renewal:rate=5; empty: none fail"}}),
        Make}));

}  // namespace
}  // namespace allot
