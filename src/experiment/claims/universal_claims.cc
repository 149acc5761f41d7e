// One released policy in every world that it was trained in, against the strongest there: the tuned
// index, our own Pollux and Sia, Gavel's linear program on repaired rounds solved at every change.

#include <fmt/format.h>

#include "experiment/claims.h"

namespace allot {
namespace {

constexpr const char* kReleased = "learned:checkpoint=checkpoints/universal/accepted";

ClaimFamily Family(const std::string& id, const std::string& profile) {
  ClaimFamily family;
  family.id = "universal-" + id;
  family.profile = profile;
  family.policy = kReleased;
  family.guards = true;
  return family;
}

ClaimFamily Pollux(bool quick) {
  struct Load {
    const char* load;
    double pollux;
  };
  ClaimFamily family = Family("pollux", "pollux");
  for (const auto& [load, most] :
       {Load{"0.5", 0.96}, {"1.0", 0.90}, {"1.5", 0.84}, {"2.0", 0.78}}) {
    if (quick && std::string(load) != "1.0") continue;
    family.settings.push_back({fmt::format("Pollux {}", load),
                               fmt::format("pollux:load={}", load),
                               "",
                               {{"pollux", most}, {"TUNED", 0}}});
  }
  if (!quick) family.pooled = {{"TUNED", 0.985}};
  return family;
}

ClaimFamily Sia(bool) {
  ClaimFamily family = Family("sia", "sia");
  family.settings = {{"Sia 1.0", "sia:load=1.0", "", {{"sia", 0.96, 1.03}, {"TUNED", 0}}}};
  return family;
}

ClaimFamily Gavel(bool quick) {
  struct World {
    const char* name;
    const char* spec;
    const char* rule;
    double rule_most;
    double tuned_most;
  };
  constexpr const char* kRule = "max_sum_throughput_perf-repaired";
  constexpr const char* kNone = "";
  ClaimFamily family = Family("gavel", "gavel");
  for (const World& world : {World{"Gavel .41", "load=.41", kRule, 1.0, 0},
                             {"Gavel .69", "load=.69", kRule, 1.0, 0},
                             {"Gavel .83", "load=.83", kRule, 1.0, 0},
                             {"Gavel .93", "load=.93", kRule, 0.995, 0},
                             {"Gavel several GPUs .43", "load=.43,multi=true", kRule, 1.0, 0},
                             {"Gavel several GPUs .72", "load=.72,multi=true", kRule, 1.0, 0},
                             {"Gavel several GPUs .87", "load=.87,multi=true", kRule, 0.98, 0},
                             {"Gavel 1.1, estimates", "load=1.1,lengths=noisy:0.5", kNone, 0, 0.99},
                             {"Gavel batch of 350, estimates",
                              "batch=true,jobs=350,lengths=noisy:0.5", kNone, 0, 0.99}}) {
    if (quick && std::string(world.name) != "Gavel .93") continue;
    ClaimedSetting setting{
        world.name, fmt::format("gavel:{}", world.spec), "", {{"TUNED", world.tuned_most}}};
    if (*world.rule != '\0') setting.limits.push_back({world.rule, world.rule_most});
    family.settings.push_back(setting);
  }
  return family;
}

// Elastic jobs whose speeds are measured as they run.
ClaimFamily Philly(bool quick, const std::string& trace, const std::string& from) {
  constexpr const char* kSplit = "2017-11-13";
  ClaimFamily family = Family("philly", "default");
  family.bases = {"remaining"};
  for (const char* load : {"1", "1.3"}) {
    if (quick && std::string(load) != "1") continue;
    const auto in = [&](const std::string& window) {
      return fmt::format(
          "trace:workload={},{},gpus=256,loads={},rigid=false,lengths=true,speedups=power,"
          "beliefs=measured",
          trace, window, load);
    };
    family.settings.push_back({fmt::format("Philly measured {}", load),
                               in(fmt::format("from={}", kSplit)),
                               in(fmt::format("from={},to={}", from, kSplit)),
                               {{"INDEX", 0.98}}});
  }
  return family;
}

ALLOT_REGISTER(ClaimsInfo, (ClaimsInfo{"universal", [](const ClaimOptions& o) {
                                         return std::vector{
                                             Pollux(o.quick), Sia(o.quick), Gavel(o.quick),
                                             Philly(o.quick, o.philly, o.philly_from)};
                                       }}));

}  // namespace
}  // namespace allot
