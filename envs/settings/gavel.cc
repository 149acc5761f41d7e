// Gavel's world (Narayanan et al., OSDI'20; the job generator of its simulator): V100, P100 and K80
// in equal numbers, 26 job types with measured speeds, lengths from half an hour to a week on V100.
// A steady one: at time 0 there are the jobs that an unlimited cluster of V100s would hold, with
// what they would have left; then others arrive at random until so many have come. All count. Or a
// batch: all there at time 0. Policy names are those of the profile `gavel`: `allox` is as
// published, `allox-repaired` has allot's rounds. The rules of the cluster are allot's for both,
// unless profile=gavel asks for those of Gavel's simulator too.

#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "envs/setting.h"
#include "perf/gavel_job_types.h"
#include "perf/gavel_pairs.h"
#include "perf/table_cache.h"
#include "sim/profile.h"

namespace allot {
namespace {

// What 36 GPUs of each type can serve, jobs per hour, at the best time shares (the linear
// program's optimum); load 1. In proportion for other sizes.
constexpr double kMostJobsPerHour = 5.81;
constexpr double kMostSeveral = 2.77;  // with jobs of several GPUs
constexpr int kGpusOfThese = 36;
// No job of before is longer: 60 x 10^4 s on V100.
constexpr double kLongestHours = 170;
constexpr Seconds kLeastLeft = 60;

// Of alpha 0, 0.12 and 0.25 the best or equal to it at loads .83 and .93, with several GPUs .72 and
// .87, lengths none (seeds 300 to 311; bench/results/learning.md).
constexpr const char* kBestIndex = "index:alpha=0.12";

struct GavelWorld {
  double jobs_per_hour = 0;
  int jobs = 0;
  bool several = false;
  bool batch = false;
  bool pairs = false;
  ClusterSpec cluster;
  SimOptions options;

  Job DrawJob(Workload* workload, Rng* rng) const {
    const double size = rng->Uniform();
    Job job;
    job.gpus = !several || size < 0.7 ? 1 : size <= 0.8 ? 2 : size <= 0.95 ? 4 : 8;
    const bool is_long = rng->Uniform() >= 0.8;
    job.duration = 60 * std::pow(10, is_long ? rng->Uniform(3, 4) : rng->Uniform(1.5, 3));
    const std::vector<GavelJobType>& types = GavelJobTypes();
    std::size_t type = rng->Below(types.size());
    while (job.gpus > 1 && !types[type].several_gpus) type = rng->Below(types.size());
    job.model = workload->models.Intern(types[type].name);
    return job;
  }

  std::shared_ptr<const Scenario> Draw(std::uint64_t seed) const {
    Workload workload;
    workload.name = fmt::format("gavel-seed{}", seed);
    Rng jobs_of(seed, "gavel-setting-jobs");
    Rng gaps(seed, "gavel-setting-arrivals");
    const auto add = [&](Job job) {
      const double rate = GavelCatalogue()
                              .Get(workload.models[job.model])
                              ->Rate(UnitCounts{static_cast<std::int16_t>(job.gpus)}, "v100");
      job.work = job.duration * rate;
      job.id = std::to_string(workload.jobs.size());
      workload.jobs.push_back(std::move(job));
    };
    if (!batch) {
      Rng before(seed, "gavel-setting-before");
      const Seconds mean_gap = 3600 / jobs_per_hour;
      for (Seconds ago = before.Exponential(mean_gap); ago < kLongestHours * 3600;
           ago += before.Exponential(mean_gap)) {
        Job job = DrawJob(&workload, &before);
        job.duration -= ago;
        if (job.duration > kLeastLeft) add(std::move(job));
      }
    }
    Seconds now = 0;
    for (int i = 0; i < jobs; ++i) {
      if (!batch && i > 0) now += gaps.Exponential(3600 / jobs_per_hour);
      Job job = DrawJob(&workload, &jobs_of);
      job.submit = now;
      add(std::move(job));
    }
    workload.Finish();
    SimOptions drawn = options;
    drawn.seed = seed;
    return std::make_shared<const Scenario>(std::move(workload), cluster, drawn,
                                            pairs ? GavelPairsCatalogue() : GavelCatalogue());
  }
};

Setting MakeGavel(const Params& params) {
  const auto world = std::make_shared<GavelWorld>();
  world->several = params.Flag("multi");
  world->batch = params.Flag("batch");
  world->pairs = params.Flag("pairs");
  world->jobs = params.Integer("jobs");
  const int gpus = params.Integer("gpus");
  const int per_node = params.Integer("per-node");
  if (gpus % per_node != 0) {
    throw UsageError("setting 'gavel': 'gpus' must be a multiple of 'per-node' ({}), got {}",
                     per_node, gpus);
  }
  if (world->several && gpus < 8) {
    throw UsageError("setting 'gavel': jobs have up to 8 GPUs of a type, 'gpus' is {}", gpus);
  }
  for (const char* type : {"v100", "p100", "k80"}) {
    world->cluster.AddNodes(gpus / per_node, {.gpus = per_node, .cpus = 8 * per_node}, type);
  }
  const double most = world->several ? kMostSeveral : kMostJobsPerHour;
  world->jobs_per_hour = params.Number("load") * most * gpus / kGpusOfThese;
  Registry<ProfileInfo>::Global().Get("profile", params.Text("profile")).apply(&world->options);
  world->options.interval = params.Number("interval");
  world->options.restart_cost = params.Number("restart-cost");
  world->options.lengths = LengthEstimates::Parse(params.Text("lengths"));
  const std::string how = world->batch ? fmt::format("batch of {}", world->jobs)
                                       : fmt::format("load {}", params.Text("load"));
  const std::string& rules = params.Text("profile");
  Setting setting{fmt::format("gavel {}{}, lengths {}{}", how,
                              world->several ? ", several GPUs" : "", params.Text("lengths"),
                              rules == "default" ? "" : fmt::format(", rules of {}", rules)),
                  "gavel", [world](std::uint64_t seed) { return world->Draw(seed); }};
  setting.index = kBestIndex;
  return setting;
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "gavel",
        "Gavel's simulated cluster: three GPU types, 26 job types, steady arrivals or a batch",
        {{"load", "0.83", "offered load: 1 is what the best time shares can serve", 1e-3, 10},
         {"multi", "false", "30 % of the jobs on 2, 4 or 8 GPUs, else all on one"},
         {"batch", "false", "all jobs at time 0, none before"},
         {"pairs", "false",
          "jobs have rates in pairs on the same GPUs (types=paired, packed sharings)"},
         {"jobs", "700", "jobs that arrive, after those in progress at time 0", 1, 1e6},
         {"gpus", "36", "GPUs of each type", 1, 1e5},
         {"per-node", "1", "GPUs of a node", 1, kMaxGpusPerNode},
         {"interval", "360", "seconds between decisions", 1e-3, 1e9},
         {"restart-cost", "30", "seconds of progress lost by a change of allocation", 0, 1e9},
         {"profile", "default",
          "rules of the simulated cluster; of `gavel`: rounds of whole steps"},
         {"lengths", "none", "job lengths that policies get: none, noisy:SIGMA, true"}},
        MakeGavel}));

}  // namespace
}  // namespace allot
