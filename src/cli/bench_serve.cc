// allot bench serve: what a decision costs a daemon with many live jobs, with the checks that the
// daemon makes: asked directly, as it is by default, and through the C interface (--plugin). Also
// whether memory stays what it was. CPU time of the thread.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "bench/machine.h"
#include "bench/synthetic_cluster.h"
#include "cli/command.h"
#include "core/cpu_time.h"
#include "core/error.h"
#include "core/file.h"
#include "core/strings.h"
#include "core/version.h"
#include "experiment/experiment.h"
#include "live/keep_on_error_policy.h"
#include "metrics/quantile.h"
#include "plugin/plugin_policy.h"

namespace allot {
namespace {

using Json = nlohmann::ordered_json;

struct ServingOptions {
  int jobs = 1000;
  int decisions = 1000;
  std::string policy = "index";
  std::string checkpoint;
  std::string plugin;
  std::string out;
};

constexpr int kWarmUp = 100;  // decisions until the cluster is full and memory has grown

double ResidentMegabytes() {
  const std::string text = ReadTextFile("/proc/self/statm");  // pages: all, resident, ...
  const auto pages = ParseInteger(Split(text, ' ').at(1));
  return static_cast<double>(*pages) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

Json MeasureServing(std::unique_ptr<Policy> inside, int jobs, int decisions) {
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

int BenchServe(const ServingOptions& o, const GlobalOptions& globals) {
  const std::string spec = o.checkpoint.empty() ? o.policy : "learned:checkpoint=" + o.checkpoint;
  Json json = {{"command", TypedCommand()},
               {"version", Version()},
               {"machine", BenchMachine()},
               {"jobs", o.jobs},
               {"direct", MeasureServing(MakePolicy(spec), o.jobs, std::min(o.decisions, 1000))},
               {"plugin", MeasureServing(MakePluginPolicy(o.plugin, spec), o.jobs, o.decisions)}};
  if (!o.out.empty()) WriteTextFile(o.out, json.dump(2) + "\n");
  if (globals.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return 0;
  }
  std::printf("CPU milliseconds of a decision at %d jobs, and resident memory in MB\n", o.jobs);
  std::printf("%-8s %10s %8s %8s %8s %8s %8s\n", "", "decisions", "median", "p99", "worst",
              "before", "after");
  for (const char* row : {"direct", "plugin"}) {
    const Json& of = json.at(row);
    const auto number = [&](const char* key) { return of.at(key).get<double>(); };
    std::printf("%-8s %10d %8.3f %8.3f %8.3f %8.1f %8.1f\n", row, of.at("decisions").get<int>(),
                number("median_ms"), number("p99_ms"), number("worst_ms"),
                number("resident_mb_before"), number("resident_mb_after"));
  }
  return 0;
}

ALLOT_REGISTER(
    CommandInfo,
    (CommandInfo{
        "bench serve", "CPU time and memory of a daemon's decisions",
        [](CommandLine& line, const GlobalOptions& globals) {
          auto o = std::make_shared<ServingOptions>();
          line.Option("--jobs", o->jobs, "number of live jobs").Range(1, 1000000).ShowDefault();
          line.Option("--decisions", o->decisions, "number of decisions that are measured")
              .Range(1, 100000000)
              .ShowDefault();
          line.Option("-p,--policy", o->policy, "policy that decides").ShowDefault();
          line.Option("--checkpoint", o->checkpoint, "or a trained policy: its checkpoint folder");
          line.Option("--plugin", o->plugin,
                      "shared library that holds the policy [the program itself]");
          line.Option("-o,--out", o->out, "write the figures as JSON to this file");
          return [o, &globals] { return BenchServe(*o, globals); };
        }}));

}  // namespace
}  // namespace allot
