#include "bench/goodput.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/cpu_time.h"
#include "envs/setting.h"
#include "perf/pollux_applications.h"
#include "sched/policy.h"
#include "sim/profile.h"
#include "sim/run.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

// The profile's rules, except for the number of jobs.
std::shared_ptr<const Scenario> CrowdOf(const std::string& setting, int jobs,
                                        const std::string& cluster) {
  const auto drawn = MakeSetting(fmt::format("{}:load={}", setting, jobs / 160.0)).episodes(1);
  Workload workload = drawn->workload();
  for (Job& job : workload.jobs) job.submit = 0;
  return std::make_shared<const Scenario>(std::move(workload), ClusterSpec::Parse(cluster),
                                          drawn->options(), PolluxCatalogue());
}

std::unique_ptr<Policy> PolicyIn(const std::string& profile, const std::string& name) {
  return MakePolicy(PolicySpecUnder(Registry<ProfileInfo>::Global().Get("profile", profile), name));
}

double Middle(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Json Decisions(const std::string& name, const std::string& setting, int jobs,
               const std::string& cluster_spec, int count) {
  constexpr int kUntimed = 5;
  const auto scenario = CrowdOf(setting, jobs, cluster_spec);
  const auto policy = PolicyIn(setting, name);
  SimulatedCluster cluster(*scenario);
  cluster.LeaveOutSums();
  cluster.ShowRates(policy->info().rates);
  policy->OnEpisodeStart(ContextOf(*scenario));
  std::vector<double> ms;
  double active = 0;
  Allocation allocation;
  for (int d = 0; d < kUntimed + count; ++d) {
    const double start = ThreadCpuSeconds();
    policy->Decide(cluster.Observe(), &allocation);
    if (d >= kUntimed) {
      ms.push_back(1e3 * (ThreadCpuSeconds() - start));
      active += cluster.Observe().rows();
    }
    cluster.Apply(allocation);
    cluster.WaitForChange(0);
  }
  const double sum = std::accumulate(ms.begin(), ms.end(), 0.0);
  return {{"policy", name},
          {"jobs", jobs},
          {"mean_active", active / count},
          {"gpus", scenario->cluster().total().gpus},
          {"types", scenario->cluster().types().size()},
          {"mean_ms", sum / count},
          {"p50_ms", Middle(ms)},
          {"worst_ms", *std::max_element(ms.begin(), ms.end())}};
}

}  // namespace

nlohmann::ordered_json MeasureGoodputDecisions() {
  constexpr const char* kSmall = "16x4";
  constexpr const char* kLarge = "500x4";
  constexpr const char* kSmallTyped = "6x4:aws,2x8:dgx-ext,3x8:rtx";
  constexpr const char* kLargeTyped = "188x4:aws,62x8:dgx-ext,94x8:rtx";
  Json rows = Json::array();
  for (const char* policy : {"index", "pollux"}) {
    rows.push_back(Decisions(policy, "pollux", 160, kSmall, 100));
    rows.push_back(Decisions(policy, "pollux", 2000, kLarge, 20));
  }
  for (const char* policy : {"index", "sia"}) {
    rows.push_back(Decisions(policy, "sia", 160, kSmallTyped, 100));
    rows.push_back(Decisions(policy, "sia", 2000, kLargeTyped, 20));
  }
  return rows;
}

nlohmann::ordered_json MeasureGoodputSimulations() {
  const auto scenario = MakeSetting("pollux").episodes(1);
  Json rows = Json::array();
  for (const auto& [policy, runs] : {std::pair{"tiresias", 51}, std::pair{"optimus", 11},
                                     std::pair{"index", 11}, std::pair{"pollux", 5}}) {
    std::vector<double> cpu;
    std::int64_t decisions = 0;
    for (int i = 0; i < runs; ++i) {
      const RunOutcome outcome =
          RunPolicy(*scenario, *PolicyIn("pollux", policy), {}, {}, {.time_decisions = false});
      cpu.push_back(outcome.cpu_s);
      decisions = outcome.drive.decisions;
    }
    rows.push_back({{"workload", scenario->workload().name},
                    {"jobs", scenario->workload().jobs.size()},
                    {"policy", policy},
                    {"beliefs", scenario->options().beliefs},
                    {"decisions", decisions},
                    {"cpu_s", Middle(std::move(cpu))}});
  }
  return rows;
}

}  // namespace allot
