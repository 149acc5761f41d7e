// Clusters of H100 nodes that train language models of a fixed global batch (docs/plans.md): work
// is tokens, so a job's speed depends only on how it is split over its GPUs. The mix of models and
// requests depends on the size of the cluster; durations are Philly's, of jobs of at least ten
// minutes and a similar number of GPUs; work is the duration at the speed of the user's plan.
//
// `plans` says what the scheduler may do with a job: `aware` its best plan at every number of GPUs,
// `blind` more or fewer replicas of the user's plan, `users` the request and the user's plan. The
// jobs of a seed are the same in all three.

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "envs/setting.h"
#include "perf/transformer_model.h"
#include "perf/transformers.h"
#include "sim/profile.h"
#include "workload/trace_reader.h"

namespace allot {
namespace {

constexpr const char* kType = "h100";
constexpr GpuCount kNodeGpus = 8;
// Of those tuned on seeds 100 to 103 at loads 0.7, 1 and 1.3 with 64 GPUs (docs/plans.md).
constexpr const char* kBestForPlans = "index:alpha=1,beta=0,kappa=0.1,soon=3";
constexpr Seconds kLeastDuration = 600;
constexpr Seconds kMostDuration = 3 * 86400.0;

// What users of a model ask for, and how they split it.
struct ModelUse {
  const char* profile;
  double share;  // of the jobs
  std::vector<GpuCount> requests;
  Plan split;
};

// The usual recipes.
constexpr Plan kReplicas{};
constexpr Plan k7b{.tensor = 2};
constexpr Plan k13b{.tensor = 2, .pipeline = 2};
constexpr Plan k70b{.tensor = 8, .pipeline = 4};
constexpr Plan kMixtral{.tensor = 2, .pipeline = 4, .expert = 4};
constexpr Plan k405b{.tensor = 8, .pipeline = 16};
constexpr Plan kDeepSeek{.tensor = 2, .pipeline = 8, .expert = 32};

const std::vector<ModelUse>& UsesOf(GpuCount gpus) {
  static const std::vector<ModelUse> small = {{"gpt-125m", 0.20, {1, 2, 4}, kReplicas},
                                              {"gpt-1.3b", 0.25, {2, 4, 8}, kReplicas},
                                              {"llama-7b", 0.30, {8, 16}, k7b},
                                              {"llama-13b", 0.15, {8, 16, 32}, k13b},
                                              {"llama-70b", 0.10, {32, 64}, k70b}};
  static const std::vector<ModelUse> middle = {
      {"gpt-125m", 0.15, {1, 2, 4, 8}, kReplicas}, {"gpt-1.3b", 0.20, {4, 8, 16}, kReplicas},
      {"llama-7b", 0.25, {8, 16, 32}, k7b},        {"llama-13b", 0.20, {16, 32, 64}, k13b},
      {"llama-70b", 0.10, {64, 128}, k70b},        {"mixtral-8x7b", 0.07, {64, 128}, kMixtral},
      {"llama-405b", 0.03, {128, 256}, k405b}};
  static const std::vector<ModelUse> large = {
      {"gpt-125m", 0.10, {8}, kReplicas},        {"gpt-1.3b", 0.20, {8, 16, 32}, kReplicas},
      {"llama-7b", 0.25, {16, 32, 64}, k7b},     {"llama-13b", 0.20, {32, 64, 128}, k13b},
      {"llama-70b", 0.12, {64, 128, 256}, k70b}, {"mixtral-8x7b", 0.06, {64, 128}, kMixtral},
      {"llama-405b", 0.04, {256, 512}, k405b},   {"deepseek-v3", 0.03, {256, 512}, kDeepSeek}};
  return gpus <= 64 ? small : gpus <= 256 ? middle : large;
}

// Philly's durations, by class of GPUs.
class Durations {
 public:
  Durations() {
    for (const Job& job : ReadTrace(std::string(kEmbeddedWorkload)).jobs) {
      if (job.duration < kLeastDuration || job.duration > kMostDuration) continue;
      classes_[ClassOf(job.gpus)].push_back(job.duration);
    }
  }

  Seconds Draw(GpuCount gpus, Rng* rng) const {
    const std::vector<Seconds>& all = classes_[ClassOf(gpus)];
    return all[rng->Below(all.size())];
  }

 private:
  static std::size_t ClassOf(GpuCount gpus) {
    return gpus <= 2 ? 0 : gpus <= 4 ? 1 : gpus <= 8 ? 2 : 3;
  }

  std::array<std::vector<Seconds>, 4> classes_;
};

enum class PlanMode { kAware, kBlind, kUsers };

struct LlmWorld {
  ClusterSpec cluster;
  SimOptions options;
  GpuCount gpus = 0;
  int jobs = 0;
  int grow = 4;
  double load = 1;
  PlanMode plans = PlanMode::kAware;
  Catalogue fixed;  // profiles "llama-7b@16": the user's plan of a request
  Durations durations;

  static std::string FixedName(const ModelUse& use, GpuCount request) {
    return fmt::format("{}@{}", use.profile, request);
  }

  Job DrawJob(Workload* workload, Rng* rng) const {
    const std::vector<ModelUse>& uses = UsesOf(gpus);
    double at = rng->Uniform();
    std::size_t index = 0;
    for (; index + 1 < uses.size() && at >= uses[index].share; ++index) at -= uses[index].share;
    const ModelUse& use = uses[index];
    Job job;
    job.gpus = use.requests[rng->Below(use.requests.size())];
    job.duration = durations.Draw(job.gpus, rng);
    const std::string fixed_name = FixedName(use, job.gpus);
    const std::vector<UnitCounts> nodes = FewestNodes(job.gpus, kNodeGpus, {});
    job.work = job.duration * fixed.Get(fixed_name)->Rate({kType, nodes, {}}, {});
    job.model = workload->models.Intern(plans == PlanMode::kAware ? use.profile : fixed_name);
    if (plans != PlanMode::kUsers) {
      job.min_gpus = 1;
      job.max_gpus = std::min(gpus, grow * job.gpus);
    }
    return job;
  }

  std::shared_ptr<const Scenario> Draw(std::uint64_t seed) const {
    Workload workload;
    workload.name = fmt::format("llm-seed{}", seed);
    Rng rng(seed, "llm-setting-jobs");
    Rng arrivals(seed, "llm-setting-arrivals");
    double gpu_seconds = 0;
    for (int i = 0; i < jobs; ++i) {
      Job job = DrawJob(&workload, &rng);
      gpu_seconds += job.duration * job.gpus;
      job.submit = arrivals.Uniform();
      workload.jobs.push_back(std::move(job));
    }
    std::stable_sort(workload.jobs.begin(), workload.jobs.end(),
                     [](const Job& a, const Job& b) { return a.submit < b.submit; });
    const Seconds span = gpu_seconds / (gpus * load);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
      workload.jobs[i].submit *= span;
      workload.jobs[i].id = std::to_string(i);
    }
    workload.Finish();
    SimOptions drawn = options;
    drawn.seed = seed;
    return std::make_shared<const Scenario>(
        std::move(workload), cluster, drawn,
        plans == PlanMode::kAware ? TransformersCatalogue() : fixed);
  }
};

// The user's plan of every request: the split of the mix with its best micro-batch, recomputation
// and ZeRO stage, or with those of somebody who does not care.
Catalogue FixedPlans(GpuCount gpus, bool careless) {
  std::vector<FixedPlan> plans;
  for (const ModelUse& use : UsesOf(gpus)) {
    const ModelPtr model = TransformersCatalogue().Get(use.profile);
    PlanProblem problem = *AsTransformer(*model)->ProblemOn(kType);
    problem.split = {.tensor = use.split.tensor,
                     .pipeline = use.split.pipeline,
                     .interleave = 1,
                     .context = 1,
                     .expert = use.split.expert};
    if (use.split.tensor > 1) problem.split.zero = 1;
    if (careless) {
      problem.split.micro_batch = 1;
      problem.split.recompute = Recompute::kFull;
    }
    for (const GpuCount request : use.requests) {
      const auto best = BestPlan(problem, {request, kNodeGpus});
      if (!best) {
        throw DataError("setting 'llm': the users' split of {} does not fit on {} GPUs",
                        use.profile, request);
      }
      plans.push_back({use.profile, LlmWorld::FixedName(use, request), best->plan});
    }
  }
  return CatalogueOfFixedPlans(plans);
}

PlanMode PlanModeOf(const std::string& text) {
  if (text == "aware") return PlanMode::kAware;
  if (text == "blind") return PlanMode::kBlind;
  if (text == "users") return PlanMode::kUsers;
  throw UsageError("setting 'llm': 'plans' must be aware, blind or users, got '{}'", text);
}

Setting MakeLlm(const Params& params) {
  const int gpus = params.Integer("gpus");
  if (gpus != 64 && gpus != 256 && gpus != 1024) {
    throw UsageError("setting 'llm': 'gpus' must be 64, 256 or 1024, got {}", gpus);
  }
  const auto world = std::make_shared<LlmWorld>();
  world->gpus = gpus;
  world->jobs = params.Integer("jobs");
  world->grow = params.Integer("grow");
  world->load = params.Number("load");
  world->plans = PlanModeOf(params.Text("plans"));
  world->fixed = FixedPlans(gpus, params.Flag("careless"));
  world->cluster.AddNodes(gpus / kNodeGpus, {.gpus = kNodeGpus, .cpus = 8 * kNodeGpus}, kType);
  Registry<ProfileInfo>::Global().Get("profile", "default").apply(&world->options);
  world->options.interval = params.Number("interval");
  world->options.restart_cost = params.Number("restart-cost");
  world->options.lengths = LengthEstimates::Parse(params.Text("lengths"));
  Setting setting{
      fmt::format("llm {} GPUs, load {}, plans {}{}, lengths {}", gpus, params.Text("load"),
                  params.Text("plans"), params.Flag("careless") ? " of careless users" : "",
                  params.Text("lengths")),
      "default", [world](std::uint64_t seed) { return world->Draw(seed); }};
  setting.index = kBestForPlans;
  return setting;
}

ALLOT_REGISTER(
    SettingInfo,
    (SettingInfo{
        "llm",
        "language models on 64, 256 or 1,024 H100: split by the best plan, or as users split them",
        {{"gpus", "64", "GPUs of the cluster: 64, 256 or 1024", 64, 1024},
         {"load", "1", "GPU time requested / GPU time until the last arrival", 1e-3, 10},
         {"plans", "aware", "aware, blind (replicas of the user's plan), or users (as requested)"},
         {"careless", "false", "users train with micro-batch 1 and recompute all layers"},
         {"grow", "4", "a job may have so many times its request", 1, 1024},
         {"jobs", "200", "jobs that arrive", 1, 1e6},
         {"interval", "300", "seconds between decisions", 1e-3, 1e9},
         {"restart-cost", "60",
          "seconds of progress lost by a change of allocation, beside writing and reading the "
          "training state",
          0, 1e9},
         {"lengths", "noisy:0.5", "job lengths that policies get: none, noisy:SIGMA, true"}},
        MakeLlm}));

}  // namespace
}  // namespace allot
