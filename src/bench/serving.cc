#include "bench/serving.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/synthetic_cluster.h"
#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "live/port/keep_on_error_policy.h"
#include "metrics/quantile.h"

namespace allot {
namespace {

constexpr int kWarmUp = 100;  // decisions until the cluster is full and memory has grown

double ResidentMegabytes() {
  const std::string text = ReadTextFile("/proc/self/statm");  // pages: all, resident, ...
  const auto pages = ParseInteger(Split(text, ' ').at(1));
  return static_cast<double>(*pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace

nlohmann::ordered_json MeasureServing(std::unique_ptr<Policy> inside, int jobs, int decisions) {
  KeepOnErrorPolicy policy(std::move(inside));
  policy.OnEpisodeStart({});
  SyntheticCluster cluster(jobs);
  Allocation allocation;
  std::vector<float> ms;
  ms.reserve(static_cast<std::size_t>(decisions));
  double memory = 0;
  for (int d = 0; d < kWarmUp + decisions; ++d) {
    if (d == kWarmUp) memory = ResidentMegabytes();
    const Observation& now = cluster.Observe();
    const double begin = ThreadCpuSeconds();
    policy.Decide(now, &allocation);
    const double took = ThreadCpuSeconds() - begin;
    if (d >= kWarmUp) ms.push_back(static_cast<float>(1000 * took));
    cluster.Apply(allocation);
  }
  if (policy.counts().failed > 0) {
    throw RunError("{} of {} decisions failed", policy.counts().failed, policy.counts().decisions);
  }
  const double memory_after = ResidentMegabytes();
  std::sort(ms.begin(), ms.end());
  const std::span<const float> sorted = ms;
  return {{"decisions", decisions},           {"median_ms", Quantile(sorted, 0.5)},
          {"p99_ms", Quantile(sorted, 0.99)}, {"worst_ms", sorted.back()},
          {"resident_mb_before", memory},     {"resident_mb_after", memory_after}};
}

}  // namespace allot
