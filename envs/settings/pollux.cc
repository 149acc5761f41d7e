// Pollux's simulated cluster (Qiao et al., OSDI'21, section 5.3 and artifact): 16 nodes of 4 GPUs,
// its six applications, jobs that came within eight hours. Which applications, and with how many
// GPUs and which batch their users ask for them, is drawn in the proportions of the artifact's
// workloads; hours are busy as there, each more or less by chance.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/rng.h"
#include "envs/rented_nodes.h"
#include "envs/setting.h"
#include "perf/pollux_applications.h"
#include "sim/belief.h"
#include "sim/profile.h"
#include "workload/formats/pollux_run_times.h"
#include "workload/job_rules.h"

namespace allot {
namespace {

// Jobs of the artifact's workloads 1 to 6 at loads 0.5, 1, 1.5 and 2.
struct Kind {
  const char* application;
  GpuCount gpus;
  int batch;
  int jobs;
};
constexpr Kind kKinds[] = {
    {"bert", 6, 384, 92},         {"bert", 8, 384, 69},          {"bert", 12, 384, 72},
    {"bert", 16, 384, 91},        {"cifar10", 6, 2048, 483},     {"cifar10", 8, 2048, 423},
    {"cifar10", 12, 4096, 488},   {"cifar10", 16, 4096, 414},    {"deepspeech2", 6, 320, 124},
    {"deepspeech2", 8, 320, 151}, {"deepspeech2", 12, 640, 156}, {"imagenet", 24, 3200, 28},
    {"imagenet", 32, 6400, 31},   {"imagenet", 48, 6400, 21},    {"ncf", 1, 32768, 1930},
    {"yolov3", 4, 64, 227},
};
constexpr double kHours[] = {554, 529, 298, 575, 708, 1099, 558, 479};
constexpr int kJobsAtLoadOne = 160;

struct PolluxWorld {
  double load = 1;
  SimOptions options;
  ClusterSpec cluster;

  Job DrawJob(Workload* workload, Rng* rng) const {
    int all = 0;
    for (const Kind& kind : kKinds) all += kind.jobs;
    auto left = static_cast<int>(rng->Below(static_cast<std::uint64_t>(all)));
    const Kind* kind = kKinds;
    while (left >= kind->jobs) left -= (kind++)->jobs;
    Job job;
    job.gpus = kind->gpus;
    job.batch = static_cast<float>(kind->batch);
    job.min_gpus = 1;
    job.max_gpus = kMostGpus;
    job.duration = *PolluxRunTime(kind->application, kind->gpus, kind->batch);
    job.model = workload->models.Intern(kind->application);
    job.group = workload->groups.Intern(kind->application);
    return job;
  }

  std::shared_ptr<const Scenario> Draw(std::uint64_t seed) const {
    Workload workload;
    workload.name = fmt::format("pollux-seed{}", seed);
    Rng times(seed, "pollux-setting-times");
    Rng kinds(seed, "pollux-setting-jobs");
    std::vector<double> until;  // shares of the jobs up to each hour
    for (const double hour : kHours) {
      double busy = 0;
      for (int i = 0; i < 3; ++i) busy += times.Exponential(1.0 / 3);
      until.push_back((until.empty() ? 0 : until.back()) + hour * busy);
    }
    const auto count = static_cast<int>(std::lround(kJobsAtLoadOne * load));
    for (int i = 0; i < std::max(count, 1); ++i) {
      Job job = DrawJob(&workload, &kinds);
      const double at = times.Uniform() * until.back();
      const auto hour = std::upper_bound(until.begin(), until.end() - 1, at) - until.begin();
      job.submit = std::floor(3600 * (static_cast<double>(hour) + times.Uniform()));
      workload.jobs.push_back(std::move(job));
    }
    std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                     [](const Job& a, const Job& b) { return a.submit < b.submit; });
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      Job& job = workload.jobs[i];
      job.id = fmt::format("{}-{}", workload.models[job.model], i);
    }
    workload.Finish();
    SimOptions drawn = options;
    drawn.seed = seed;
    return std::make_shared<const Scenario>(std::move(workload), cluster, drawn, PolluxCatalogue());
  }
};

Setting MakePollux(const Params& params) {
  const auto world = std::make_shared<PolluxWorld>();
  world->load = params.Number("load");
  Registry<ProfileInfo>::Global().Get("profile", "pollux").apply(&world->options);
  world->options.interval = params.Number("interval");
  world->options.training.interference = params.Number("interference");
  world->options.lengths = LengthEstimates::Parse(params.Text("lengths"));
  world->options.beliefs = params.Text("beliefs");
  CheckBelief(world->options.beliefs);
  ReadRentedNodes(params, &world->options);
  world->cluster.AddNodes(params.Integer("nodes"), {.gpus = 4, .cpus = 0}, "gpu");
  return {fmt::format("pollux load {}, lengths {}, beliefs {}", params.Text("load"),
                      params.Text("lengths"), params.Text("beliefs")),
          "pollux", [world](std::uint64_t seed) { return world->Draw(seed); }};
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "pollux",
        "Pollux's simulated cluster: applications whose batch follows their GPUs, in eight hours",
        WithRentedNodes(
            {{"load", "1.0", "jobs, as a multiple of 160", 1e-2, 100},
             {"nodes", "16", "of 4 GPUs", 1, 1e5},
             {"interval", "60", "seconds between decisions", 1e-3, 1e9},
             {"interference", "0",
              "share of its rate that a job on several nodes loses beside another such job", 0,
              0.99},
             {"lengths", "noisy:0.5", "job lengths that policies get: none, noisy:SIGMA, true"},
             {"beliefs", "online", "rates that policies see, see 'allot list beliefs'"}}),
        MakePollux}));

}  // namespace
}  // namespace allot
