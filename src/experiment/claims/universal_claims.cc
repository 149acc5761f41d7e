// One released policy in every world that it was trained in, against the strongest there: the tuned
// index, our own Pollux and Sia, Gavel's linear program on repaired rounds solved at every change.

#include <fmt/format.h>

#include "experiment/claims/claims.h"

namespace allot {
namespace {

ClaimFamily Family(const std::string& id, const std::string& profile, const ClaimOptions& options) {
  ClaimFamily family;
  family.id = "universal-" + id;
  family.profile = profile;
  family.policy = "learned:checkpoint=" + options.universal;
  family.guards = true;
  family.most_unfair = 1;
  return family;
}

ClaimFamily Pollux(const ClaimOptions& options) {
  struct Load {
    const char* load;
    double pollux;
    bool quick = false;
  };
  ClaimFamily family = Family("pollux", "pollux", options);
  for (const Load& each :
       {Load{"0.5", 0.96}, {"1.0", 0.90}, {"1.5", 0.84, true}, {"2.0", 0.78, true}}) {
    if (options.quick && !each.quick) continue;
    // The bounds over Pollux' own rule are missed on generated workloads (docs/results.md): a quick
    // run reports that ratio only.
    family.settings.push_back({fmt::format("Pollux {}", each.load),
                               fmt::format("pollux:load={}", each.load),
                               "",
                               {{"pollux", options.quick ? 0 : each.pollux}, {"TUNED", 0}}});
  }
  family.pooled = {{"TUNED", 0.985}};
  return family;
}

ClaimFamily Sia(const ClaimOptions& options) {
  ClaimFamily family = Family("sia", "sia", options);
  family.settings = {{"Sia 1.0", "sia:load=1.0", "", {{"sia", 0.96, 1.03}, {"TUNED", 0}}}};
  return family;
}

ClaimFamily Gavel(const ClaimOptions& options) {
  struct World {
    const char* name;
    const char* spec;
    const char* rule;
    double rule_most;
    double tuned_most;
    bool quick = false;
  };
  constexpr const char* kRule = "max_sum_throughput_perf-repaired";
  constexpr const char* kNone = "";
  ClaimFamily family = Family("gavel", "gavel", options);
  for (const World& world :
       {World{"Gavel .41", "load=.41", kRule, 1.0, 0},
        {"Gavel .69", "load=.69", kRule, 1.0, 0},
        {"Gavel .83", "load=.83", kRule, 1.0, 0},
        {"Gavel .93", "load=.93", kRule, 0.995, 0},
        {"Gavel several GPUs .43", "load=.43,multi=true", kRule, 1.0, 0},
        {"Gavel several GPUs .72", "load=.72,multi=true", kRule, 1.0, 0},
        {"Gavel several GPUs .87", "load=.87,multi=true", kRule, 0.98, 0, true},
        {"Gavel 1.1, estimates", "load=1.1,lengths=noisy:0.5", kNone, 0, 0.99},
        {"Gavel batch of 350, estimates", "batch=true,jobs=350,lengths=noisy:0.5", kNone, 0,
         0.99}}) {
    if (options.quick && !world.quick) continue;
    ClaimedSetting setting{
        world.name, fmt::format("gavel:{}", world.spec), "", {{"TUNED", world.tuned_most}}};
    if (*world.rule != '\0') setting.limits.push_back({world.rule, world.rule_most});
    family.settings.push_back(setting);
  }
  return family;
}

// Elastic jobs whose speeds are measured as they run.
ClaimFamily Philly(const ClaimOptions& options) {
  constexpr const char* kSplit = "2017-11-13";
  ClaimFamily family = Family("philly", "default", options);
  family.bases = {"remaining"};
  for (const char* load : {"1", "1.3"}) {
    const auto in = [&](const std::string& window) {
      return fmt::format(
          "trace:workload={},{},gpus=256,loads={},rigid=false,lengths=true,speedups=power,"
          "beliefs=measured",
          options.philly, window, load);
    };
    family.settings.push_back({fmt::format("Philly measured {}", load),
                               in(fmt::format("from={}", kSplit)),
                               in(fmt::format("from={},to={}", options.philly_from, kSplit)),
                               {{"INDEX", 0.98}}});
  }
  return family;
}

// A trace that nothing was trained or tuned on: before the split the opponent is tuned, after it
// both are tested.
struct Unseen {
  std::string id;
  std::string trace;  // "": left out
  const char* rest;   // of the setting: cluster, jobs, loads, span
  const char* from;
  const char* split;
};

std::string Window(const Unseen& u, bool tested) {
  const std::string when =
      tested ? fmt::format("from={}", u.split) : fmt::format("from={},to={}", u.from, u.split);
  return fmt::format("trace:workload={},{},{},lengths=noisy:0.5", u.trace, when, u.rest);
}

// As it is released; then after some two CPU-minutes of training in the weeks of tuning.
std::vector<ClaimFamily> UnseenFamilies(const Unseen& u, const ClaimOptions& options) {
  ClaimFamily family = Family("unseen-" + u.id, "default", options);
  family.bases = {"remaining"};
  family.settings = {
      {"unseen " + u.id, Window(u, true), Window(u, false), {{"INDEX", 1.01}, {"TUNED", 0}}}};
  ClaimFamily tuned = family;
  tuned.id = "universal-tuned-" + u.id;
  tuned.policy.clear();
  tuned.settings.front().name = u.id + ", after 2 CPU-minutes";
  tuned.settings.front().limits = {{"INDEX", 1.0}};
  tuned.training = {Window(u, false) + ",random-start=true"};
  tuned.start = options.universal;
  tuned.method =
      "evolution:pairs=12,sigma=0.04,learning-rate=0.01,final-learning-rate=0.003,objective=jct,"
      "tensors=own,average-decay=0.9";
  tuned.iterations = 20;
  tuned.workloads = 4;
  tuned.validation = 24;
  return {family, tuned};
}

std::vector<ClaimFamily> Make(const ClaimOptions& options) {
  std::vector<ClaimFamily> families = {Pollux(options), Sia(options), Gavel(options)};
  if (options.quick) return families;
  families.push_back(Philly(options));
  constexpr const char* kElastic = "gpus=256,loads=1,rigid=false,speedups=power";
  for (const Unseen& u :
       {Unseen{"venus", options.helios, kElastic, "89d", "103d"},
        {"pai", options.pai, kElastic, "0d", "21d"},
        {"openb", options.openb,
         "cluster=1x8:G2|1x8:G3|1x2:T4|1x1:P100|1x1:V100M16|1x4:V100M32,loads=0.4,rigid=true",
         "115d", "132d"}}) {
    if (u.trace.empty()) continue;
    for (ClaimFamily& family : UnseenFamilies(u, options)) families.push_back(std::move(family));
  }
  return families;
}

ALLOT_REGISTER(ClaimsInfo, (ClaimsInfo{"universal", Make}));

}  // namespace
}  // namespace allot
