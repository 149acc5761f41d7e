// Sia's simulated cluster (Jayaram Subramanya et al., SOSP'23, section 4.1): 6 nodes of 4 T4 (aws),
// 2 of 8 A100 (dgx-ext) and 3 of 8 RTX 2080 Ti (rtx), and jobs as in Pollux's, with cifar10 where
// Pollux's have ncf. Shares of applications and requests are those of the workloads 1 to 6 of its
// simulator, pooled. Its measurements do not come with allot (docs/goodput.md): `applications`
// names their folder. Without one the applications are Pollux's, as fast on all three types.

#include "core/error.h"
#include "envs/application_jobs.h"
#include "envs/rented_nodes.h"
#include "envs/setting.h"
#include "perf/application_model.h"
#include "perf/pollux_applications.h"
#include "sim/belief.h"
#include "sim/profile.h"

namespace allot {
namespace {

constexpr double kSiaJobs = 160;

std::vector<ApplicationRequest> SiaRequests() {
  return {{"cifar10", 12, 4096, 207},  {"cifar10", 6, 2048, 193},    {"cifar10", 8, 2048, 179},
          {"cifar10", 16, 4096, 175},  {"deepspeech2", 12, 640, 31}, {"deepspeech2", 8, 320, 29},
          {"deepspeech2", 6, 320, 25}, {"imagenet", 10, 1600, 10},   {"imagenet", 14, 3200, 5},
          {"imagenet", 12, 3200, 3},   {"bert", 6, 384, 20},         {"bert", 16, 384, 17},
          {"bert", 12, 384, 13},       {"bert", 8, 384, 12},         {"yolov3", 4, 64, 41}};
}

Setting MakeSia(const Params& params) {
  ApplicationJobs law;
  law.jobs = params.Number("load") * kSiaJobs;
  law.hours = UsualHours();
  law.requests = SiaRequests();
  SimOptions options;
  Registry<ProfileInfo>::Global().Get("profile", "sia").apply(&options);
  options.interval = params.Number("interval");
  options.lengths = LengthEstimates::Parse(params.Text("lengths"));
  options.beliefs = params.Text("beliefs");
  CheckBelief(options.beliefs);
  ReadRentedNodes(params, &options);
  const std::string& folder = params.Text("applications");
  const auto catalogue = std::make_shared<const Catalogue>(
      folder.empty() ? PolluxCatalogue() : Catalogue::FromFile(folder));
  ClusterSpec cluster;
  cluster.AddNodes(6, {.gpus = 4, .cpus = 32}, "aws");
  cluster.AddNodes(2, {.gpus = 8, .cpus = 64}, "dgx-ext");
  cluster.AddNodes(3, {.gpus = 8, .cpus = 64}, "rtx");
  return {
      fmt::format("sia load {}, lengths {}, beliefs {}{}", params.Text("load"),
                  params.Text("lengths"), options.beliefs,
                  folder.empty() ? ", all types as fast" : ""),
      "sia", [=](std::uint64_t seed) {
        SimOptions drawn = options;
        drawn.seed = seed;
        return std::make_shared<const Scenario>(
            DrawApplicationJobs(law, *catalogue, cluster, fmt::format("sia-seed{}", seed), seed),
            cluster, drawn, *catalogue);
      }};
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "sia", "Sia's simulated cluster: as pollux, on three GPU types",
        WithRentedNodes(
            {{"load", "1", "1: 160 jobs in eight hours", 1e-2, 100},
             FileParam({"applications", "",
                        "folder of their measurements; empty: Pollux's on all types"}),
             {"interval", "60", "seconds between decisions", 1e-3, 1e9},
             {"lengths", "noisy:0.5", "job lengths that policies get: none, noisy:SIGMA, true"},
             {"beliefs", "online", "rates that policies see, see 'allot list beliefs'"}}),
        MakeSia}));

}  // namespace
}  // namespace allot
