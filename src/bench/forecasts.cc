#include "bench/forecasts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/cpu_time.h"
#include "sim/run.h"
#include "wait_forecast/wait_forecaster.h"

namespace allot {
namespace {

constexpr Seconds kMeanLength = 3 * 3600;

std::shared_ptr<const Scenario> CrowdedScenario(int jobs, Seconds span, int nodes,
                                                std::uint64_t seed) {
  constexpr std::array<GpuCount, 5> kSizes = {1, 1, 1, 2, 4};
  Rng rng(seed, "bench-forecast");
  Workload workload;
  workload.name = "crowd";
  for (int i = 0; i < jobs; ++i) {
    Job job;
    job.id = std::to_string(i);
    job.submit = rng.Uniform() * span;
    job.gpus = kSizes[rng.Below(kSizes.size())];
    job.duration = 60 + rng.Exponential(kMeanLength);
    job.user = workload.users.Intern(std::to_string(rng.Below(40)));
    workload.jobs.push_back(std::move(job));
  }
  workload.Finish();
  ClusterSpec cluster;
  cluster.AddNodes(nodes, {.gpus = 8, .cpus = 64}, "gpu");
  SimOptions options;
  options.lengths = LengthEstimates::Parse("none");
  return std::make_shared<const Scenario>(std::move(workload), std::move(cluster), options);
}

// The first decision from `at` on.
class Moment : public DecisionListener {
 public:
  explicit Moment(Seconds at) : at_(at) {}
  void OnDecision(const Observation& o, const Allocation&) override {
    if (seen || o.now < at_) return;
    seen = true;
    observation = o;
  }
  bool seen = false;
  Observation observation;

 private:
  Seconds at_;
};

double MedianCpuMilliseconds(const std::function<void()>& work) {
  std::array<double, 5> cpu{};
  for (double& one : cpu) {
    const double begin = ThreadCpuSeconds();
    work();
    one = 1e3 * (ThreadCpuSeconds() - begin);
  }
  std::sort(cpu.begin(), cpu.end());
  return cpu[2];
}

}  // namespace

nlohmann::ordered_json MeasureForecast(const std::string& policy, int jobs) {
  constexpr Seconds kTwoWeeks = 14 * 86400;
  constexpr double kMeanGpus = 1.8;
  const int nodes = std::max(1, jobs / 16);
  const auto scenario = CrowdedScenario(jobs, 900, nodes, 1);
  const double arrivals = 0.9 * 8 * nodes * kTwoWeeks / (kMeanGpus * kMeanLength);
  const auto past = CrowdedScenario(static_cast<int>(arrivals), kTwoWeeks, nodes, 2);
  LengthModel lengths;
  lengths.Learn(past->workload(), kNever);
  const auto present = MakePolicy(policy);
  const auto future = MakePolicy(policy);
  Moment moment(1500);
  DecisionListener* const listeners[] = {&moment};
  SimulatedCluster cluster(*scenario);
  Drive(cluster, *present, ContextOf(*scenario), listeners,
        {.time_decisions = false, .enough = [&] { return moment.seen; }});
  lengths.OnEpisodeStart();
  lengths.Observe(moment.observation);
  const WaitForecaster forecaster(scenario->options(), {},
                                  std::make_shared<const PastArrivals>(past, kNever, 86400.0));
  const double forecast_ms = MedianCpuMilliseconds(
      [&] { (void)forecaster.Predict({moment.observation}, lengths, *future); });
  const Scenario::JobFacts& of_one = scenario->facts(0);
  const std::vector<HypotheticalJob> asked(
      6, HypotheticalJob{.table = of_one.table, .requested = of_one.requested});
  const double quote_ms = MedianCpuMilliseconds(
      [&] { (void)forecaster.PredictStarts({moment.observation}, asked, lengths, *future); });
  return {{"policy", policy},      {"jobs", moment.observation.rows()},
          {"gpus", 8 * nodes},     {"futures", SamplesFor(moment.observation.rows())},
          {"cpu_ms", forecast_ms}, {"quote_cpu_ms", quote_ms}};
}

}  // namespace allot
